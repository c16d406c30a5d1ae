"""XGBoost in one process: python xgboost_peer.py NAME"""
import os

import data
from turns import main, workload

COMMON = {"objective": "binary:logistic", "tree_method": "hist", "max_bin": 255, "nthread": int(os.environ.get("OMP_NUM_THREADS", "2"))}


def _trained(rounds, **parameters):
    import xgboost

    x, y = data.event_rows(0, 1_000_000)

    def train():
        rows = xgboost.QuantileDMatrix(x, y, max_bin=COMMON["max_bin"])
        return xgboost.train(COMMON | parameters, rows, rounds)

    return train, lambda model: data.judged(y, model.inplace_predict(x))


workload("boosting")(lambda: _trained(100, max_leaves=31, max_depth=0, grow_policy="lossguide", learning_rate=0.1))
workload("forest")(lambda: _trained(1, num_parallel_tree=16, max_depth=10, learning_rate=1, subsample=0.632, colsample_bynode=5 / 28))

if __name__ == "__main__":
    main()
