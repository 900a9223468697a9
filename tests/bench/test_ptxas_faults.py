"""Tests of the table of ptxas's faults, without ptxas."""

import pathlib
import tempfile
import unittest

import ptxas_faults

TEXT = """// What PTX says, and what ptxas does.
// report: none
// launch: --grid 1 --block 1 --arg _ --arg 7
// releases wrong: 12.0.76 to 12.9.86
// releases right: none
// targets: sm_90
.version 7.8
.target sm_90
.address_size 64
"""
RELEASES = ["12.0.76", "12.9.86", "12.10.1", "13.0.48", "13.4.46rc1", "13.4.59"]


def fault(text=TEXT):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "small.ptx")
        path.write_text(text, encoding="utf8")
        return ptxas_faults.read(path)


class Headers(unittest.TestCase):
    def test_a_header_is_read(self):
        read = fault()
        self.assertEqual((read.name, read.target), ("small", "sm_90"))
        self.assertEqual(read.sentence, "What PTX says, and what ptxas does.")
        self.assertEqual(read.launch, ["--grid", "1", "--block", "1", "--arg", "_", "--arg", "7"])

    def test_a_header_without_a_launch_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "lacks launch"):
            fault(TEXT.replace("// launch: --grid 1 --block 1 --arg _ --arg 7\n", ""))

    def test_only_the_named_field_is_rewritten(self):
        text = ptxas_faults.rewritten(TEXT, {"releases right": "13.0.48"})
        self.assertEqual(text, TEXT.replace("right: none", "right: 13.0.48"))

    def test_every_file_has_a_header(self):
        files = sorted((ptxas_faults.ROOT / "tests/ptxas-faults").glob("*.ptx"))
        self.assertTrue(files)
        for path in files:
            self.assertNotIn("?", ptxas_faults.read(path).fields["releases wrong"], path.name)


class Releases(unittest.TestCase):
    def test_releases_are_ordered_by_their_numbers(self):
        self.assertEqual(sorted(reversed(RELEASES), key=ptxas_faults.order), RELEASES)

    def test_neighbours_are_one_range(self):
        self.assertEqual(ptxas_faults.ranges({*RELEASES[:3], "13.4.59"}, RELEASES), "12.0.76 to 12.10.1, 13.4.59")
        self.assertEqual(ptxas_faults.ranges(set(), RELEASES), "none")

    def test_another_processor_takes_a_version_of_ptx_that_knows_it(self):
        self.assertIn(".version 8.6\n.target sm_100\n", ptxas_faults.at(TEXT, "sm_100"))
        self.assertIn(".version 7.8\n.target sm_80\n", ptxas_faults.at(TEXT, "sm_80"))


class Verdicts(unittest.TestCase):
    def test_memory_decides(self):
        self.assertEqual(ptxas_faults.judge((b"0", b"1"), (b"0", b"1")), "right")
        self.assertEqual(ptxas_faults.judge((b"0", b"1"), (b"0", b"2")), "wrong")
        self.assertIn("not comparable", ptxas_faults.judge((b"0", b"1"), (b"9", b"1")))

    def test_what_is_not_modelled_stands_in_the_table(self):
        said = "nvptx-ra: k: no result: not modelled: X: not known; see docs/emulate.md for what is modelled"
        verdicts = {"12.0.76": "wrong", "12.9.86": "right", "13.0.48": f"not comparable: {ptxas_faults.reason(said)}"}
        words = ptxas_faults.in_words(verdicts, RELEASES)
        row = ptxas_faults.table([("small", "sm_90", words)]).splitlines()[-1]
        self.assertEqual(
            row, "| small | sm_90 | 12.0.76 | 12.9.86 | not comparable: not modelled: X: not known: 13.0.48 |"
        )


if __name__ == "__main__":
    unittest.main()
