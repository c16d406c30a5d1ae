"""heatpp.heat: what HeAT 1.9 added for communication, clusters of data and counts of classes."""

import unittest

import heatpp.heat as ht
import numpy as np
import torch


class HeatClusters(unittest.TestCase):
    def test_communication_is_abstract(self):
        self.assertIsInstance(ht.get_comm(), ht.Communication)
        with self.assertRaisesRegex(NotImplementedError, "expected MPICommunication"):
            ht.Communication()
        with self.assertRaises(NotImplementedError):
            ht.Communication.is_distributed()
        with self.assertRaises(NotImplementedError):
            ht.Communication.chunk(None, (3,), 0)

    def test_clusters(self):
        create, size = ht.utils.data.spherical.create_clusters, ht.MPI_WORLD.size
        rows, means = 40 * size + 3, torch.tensor([[0.0, 10.0], [20.0, -30.0]])
        x = create(rows, 2, 2, means, torch.tensor([0.01, 0.04]))
        self.assertEqual((x.shape, x.split, x.dtype, x.is_balanced()), ((rows, 2), 0, ht.float32, True))
        nearest = (torch.cdist(torch.from_numpy(x.numpy()), means)).min(1)
        self.assertLess(nearest.values.max().item(), 1.5)
        self.assertEqual(nearest.indices.sum().item(), sum(n // 2 for n in ht.MPI_WORLD.handle.allgather(len(x.larray))))
        # the matrices of covariances, and each rank's own shares
        covariances = torch.tensor([[[4.0, 1.9], [1.9, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
        weights = torch.tensor([1.0, 0.0]) if ht.MPI_WORLD.rank == 0 else torch.tensor([0.0, 1.0])
        x = create(4000 * size, 2, 2, means, covariances, weights)
        np.testing.assert_allclose(np.cov(x.larray.numpy().T), covariances[min(ht.MPI_WORLD.rank, 1)], atol=0.4)
        last = ht.MPI_WORLD.rank == size - 1  # what is wrong on one rank is an error on all
        for error, wrong in ((TypeError, ("means", torch.ones(2))), (ValueError, (torch.zeros(3, 2), torch.ones(2))), (TypeError, (means, "deviations")),
                             (ValueError, (means, torch.zeros(2, 2))), (TypeError, (means, torch.ones(2), "weights")), (ValueError, (means, torch.ones(2), torch.ones(2)))):
            with self.assertRaises(error):
                create(10, 2, 2, *(wrong if last else (means, torch.ones(2))))

    def test_counts_of_classes(self):
        x = ht.array(np.arange(24.0).reshape(12, 2), split=0, dtype=ht.float32)
        classes = ht.naive_bayes.GaussianNB().fit(x, ht.array(np.array([0, 1, 1] * 4), split=0))
        np.testing.assert_array_equal(classes.class_count_.numpy(), [4, 8])


if __name__ == "__main__":
    unittest.main()
