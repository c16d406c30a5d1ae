"""scikit-learn's estimators on Intel's oneDAL in one process: python sklearnex_peer.py NAME"""
from sklearnex import patch_sklearn

patch_sklearn(verbose=False)

import learning  # noqa: E402, F401: registers its workloads
from turns import main  # noqa: E402

if __name__ == "__main__":
    main()
