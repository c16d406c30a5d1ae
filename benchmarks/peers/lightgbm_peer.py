"""LightGBM in one process: python lightgbm_peer.py NAME"""
import os

import data
from turns import main, workload

COMMON = {"objective": "binary", "max_bin": 255, "verbose": -1, "num_threads": int(os.environ.get("OMP_NUM_THREADS", "2"))}


def _trained(rounds, **parameters):
    import lightgbm

    x, y = data.event_rows(0, 1_000_000)
    train = lambda: lightgbm.train(COMMON | parameters, lightgbm.Dataset(x, y), rounds)
    return train, lambda model: data.judged(y, model.predict(x))


workload("boosting")(lambda: _trained(100, num_leaves=31, learning_rate=0.1, min_data_in_leaf=20))
workload("forest")(
    lambda: _trained(16, boosting="rf", num_leaves=1024, max_depth=10, min_data_in_leaf=1, bagging_freq=1,
                     bagging_fraction=0.632, feature_fraction_bynode=5 / 28)
)

if __name__ == "__main__":
    main()
