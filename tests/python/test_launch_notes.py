"""Notes that are appended to PTX for the ptxas wrapper. src/cli/ptxas_wrapper/launch_note.rs reads them."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from nvptx_ra._launch_notes import noted  # noqa: E402


class LaunchNotes(unittest.TestCase):
    def test_a_line_for_each_note(self):
        self.assertEqual(noted("}\n\n", dynamic_shared=0), "}\n// nvptx-ra: dynamic-shared 0\n")
        self.assertEqual(
            noted("}", dynamic_shared=8, is_timed=True), "}\n// nvptx-ra: timed\n// nvptx-ra: dynamic-shared 8\n"
        )
        self.assertEqual(
            noted("}", dynamic_shared=8, is_candidate=True),
            "}\n// nvptx-ra: candidate\n// nvptx-ra: dynamic-shared 8\n",
        )


if __name__ == "__main__":
    unittest.main()
