"""The targets that bench/report.py holds results to, and the shapes that the peers share with the command."""
import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import peer_rows  # noqa: E402
import report  # noqa: E402

GPU, HOST = {"target": "cuda:0"}, {"target": "host"}


def line(row, us, peer="kiln", **more):
    return dict(row=row, peer=peer, us=us, p10_us=us, p90_us=us, mode="stream", **more)


class Targets(unittest.TestCase):
    def short(self, header, *lines):
        return set(report.shortfalls(header, lines))

    def test_floor(self):
        self.assertEqual(self.short(GPU, line("E1", 107, floor_us=100)), set())
        self.assertEqual(self.short(GPU, line("E1", 108, floor_us=100)), {"E1"})
        self.assertEqual(self.short(GPU, line("S1", 108, floor_us=100)), set())
        self.assertEqual(self.short(GPU, line("S1", 109, floor_us=100)), {"S1"})
        self.assertEqual(self.short(GPU, line("E5", 200, floor_us=100)), set())
        self.assertEqual(self.short(GPU, line("P4:01234", 117, floor_us=100), line("Podd1:01234", 150, floor_us=100)), set())
        self.assertEqual(self.short(GPU, line("P4:01234", 118, floor_us=100), line("Podd1:01234", 155, floor_us=100)),
                         {"P4:01234", "Podd1:01234"})

    def test_best_peer(self):
        self.assertEqual(self.short(GPU, line("E5", 103), line("E5", 100, "torch"), line("E5", 150, "cupy")), set())
        self.assertEqual(self.short(GPU, line("E5", 104), line("E5", 100, "torch"), line("E5", 150, "cupy")), {"E5"})

    def test_calls_and_first_use(self):
        self.assertEqual(self.short(GPU, line("H1", 2.3, floor_us=2.0), line("H2", 2.65, floor_us=2.0)), set())
        self.assertEqual(self.short(GPU, line("H1", 2.4, floor_us=2.0), line("H2", 2.75, floor_us=2.0)), {"H1", "H2"})
        self.assertEqual(self.short(GPU, line("C1", 22900, floor_us=20000), line("C4", 349)), set())
        self.assertEqual(self.short(GPU, line("C1", 23100, floor_us=20000), line("C4", 351)), {"C1", "C4"})

    def test_reductions(self):
        self.assertEqual(self.short(GPU, line("R1", 105, floor_us=100), line("R4", 113, floor_us=100), line("R13", 3.9, floor_us=3),
                                    line("F1", 9, floor_us=3)), set())
        self.assertEqual(self.short(GPU, line("R1", 106, floor_us=100), line("R4", 114, floor_us=100), line("R13", 4.1, floor_us=3),
                                    line("F1", 9), line("F1", 8, "torch")), {"R1", "R4", "R13", "F1"})
        self.assertEqual(self.short(GPU, line("C2", 39900, floor_us=27000), line("C2", 40000, "jax"), line("H7", 2.7, floor_us=2)), set())
        self.assertEqual(self.short(GPU, line("C2", 41000, floor_us=27000), line("C2b", 39000, floor_us=27000), line("C2b", 38000, "jax"),
                                    line("C4b", 351), line("H7", 2.9, floor_us=2)), {"C2", "C2b", "C4b", "H7"})
        self.assertEqual(self.short(HOST, line("R2", 100), line("R2", 98, "numpy"), line("R9", 100), line("R9", 200, "numpy")), set())
        self.assertEqual(self.short(HOST, line("R2", 100), line("R2", 90, "numpy"), line("R9", 100), line("R9", 150, "numpy")),
                         {"R2", "R9"})

    def test_sweeps(self):
        self.assertEqual(self.short(GPU, line("E2@2^20", 10.4, floor_us=11, copy_us=10), line("E2@2^10", 1.3, floor_us=1),
                                    line("chain@2^12", 2.05, floor_us=2)), set())
        self.assertEqual(self.short(GPU, line("E2@2^20", 10.6, floor_us=11, copy_us=10), line("E2@2^10", 1.5, floor_us=1),
                                    line("chain@2^12", 2.07, floor_us=2)), {"E2@2^20", "E2@2^10", "chain@2^12"})

    def test_splits(self):
        name, large, small = "reduce:4x1024x16", dict(floor_us=88, bytes=270e6), dict(floor_us=88, bytes=4e6)
        self.assertEqual(self.short(GPU, line(name, 100, **large), line(name, 98, "jax")), set())
        self.assertEqual(self.short(GPU, line(name, 101, **large)), {name})
        self.assertEqual(self.short(GPU, line(name, 101, **small)), set())
        self.assertEqual(self.short(GPU, line(name, 100, **large), line(name, 96, "jax")), {name})

    def test_heat_map(self):
        header = dict(GPU, kiln="1", device="a device")
        cells = [line("reduce:4x1024x16", 100, floor_us=90), line("reduce:4x1024x16", 80, "jax"), line("reduce:1x5461x3", 100, floor_us=75)]
        drawn = report.picture(header, cells)
        texts = [node.text for node in xml.etree.ElementTree.fromstring(drawn) if node.tag.endswith("text")]
        for part in ("90", "112", "75"):  # kiln's, the best peer's, kiln's of the awkward extent
            self.assertEqual(texts.count(part), 1, part)
        self.assertEqual(drawn.count('stroke="#222"'), 2)  # the same cell in both maps
        self.assertNotEqual(report.heat(60), report.heat(95))

    def test_host(self):
        self.assertEqual(self.short(HOST, line("E4", 100, floor_us=10), line("E4", 300, "numpy"), line("E4", 100, "numba")), set())
        self.assertEqual(self.short(HOST, line("E4", 100), line("E4", 280, "numpy")), {"E4"})
        self.assertEqual(self.short(HOST, line("E2", 110), line("E2", 100, "numexpr")), {"E2"})

    def test_failed_rows_are_short(self):
        failed = {"row": "E1", "peer": "kiln", "error": "wrong result"}
        self.assertEqual(report.shortfalls(GPU, [failed]), {"E1": ["wrong result"]})


class Shapes(unittest.TestCase):
    def test_unscaled(self):
        self.assertEqual(peer_rows.extents("R,R", 1), (16384, 16384))
        self.assertEqual(peer_rows.extents("R,Q", 1), (16384, 8192))
        self.assertEqual(peer_rows.extents("M,M", 1), (16383, 16383))
        self.assertEqual(peer_rows.extents("N", 1), (1 << 28,))
        self.assertEqual(peer_rows.extents("H", 1), (1 << 27,))
        self.assertEqual(peer_rows.extents("64*,256,56,56", 1), (64, 256, 56, 56))

    def test_scaled(self):
        self.assertEqual(peer_rows.extents("64*,256", 1 / 16), (4, 256))
        self.assertEqual(peer_rows.extents("2*,3", 0.001), (1, 3))
        self.assertEqual(peer_rows.extents("R", 1 / 16), (4096,))


if __name__ == "__main__":
    unittest.main()
