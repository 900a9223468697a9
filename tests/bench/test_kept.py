"""Tests of spilling to shared memory: counts from machine code, launches, and the table."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import kept
import launches
import ptx
import searched
import traffic
from machine_code import Block, Instruction

PTX = """.version 8.8
.extern .shared .align 16 .b8 all[];
.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 8, 4, 2
{
	.shared .align 16 .b8 slots[64];
	ret;
}
.func helper()
{
	ret;
}
.weak .entry second()
.reqntid 128
{
	ret;
}
"""

SASS = """
		Function : first
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 STL.64 [R1+0x8], R2 ;
        /*0020*/                   LDL R4, [R1] ;
        /*0030*/                   LDS.128 R4, [R9] ;
        /*0040*/                   STS [R9+0x400], R4 ;
        /*0050*/                   LDSM.16.M88.4 R4, [R9] ;
        /*0060*/                   NOP ;
		Function : second
        /*0000*/                   EXIT ;
"""


def registers(*numbers):
    return {("GPR", number) for number in numbers}


class MachineCode(unittest.TestCase):
    def test_words_by_width_and_no_matrix_loads(self):
        found = traffic.read_machine_code(SASS)
        self.assertEqual(found["first"], {"instructions": 6, "local_words": 3, "shared_words": 5})
        self.assertEqual(found["second"], {"instructions": 1, "local_words": 0, "shared_words": 0})

    def test_a_peak_is_of_matrices_if_half_of_it_is(self):
        def code(matrix):
            return [
                Block(
                    "",
                    [
                        Instruction("LDG.E", writes=registers(0, 1), live=registers(0, 1)),
                        Instruction(matrix, writes=registers(2, 3), live=registers(0, 1, 2, 3)),
                        Instruction("FADD", reads=registers(0, 1, 2, 3), live=registers(0)),
                    ],
                )
            ]

        self.assertTrue(traffic.is_of_matrices(code("HMMA.16816.F32")))
        self.assertTrue(traffic.is_of_matrices(code("HGMMA.64x64x16.F32")))
        self.assertFalse(traffic.is_of_matrices(code("FFMA")))
        self.assertFalse(traffic.is_of_matrices([Block("", [Instruction("EXIT")])]))

    def test_threads_by_the_bounds(self):
        self.assertEqual(traffic.threads_of(ptx.only(PTX, "first")), 64)
        self.assertEqual(traffic.threads_of(ptx.only(PTX, "second")), 128)
        self.assertIsNone(traffic.threads_of(".visible .entry k()\n{\n"))


class Text(unittest.TestCase):
    def test_other_kernels_go_and_all_else_stays(self):
        text = ptx.only(PTX, "second")
        self.assertNotIn("first", text)
        self.assertNotIn("slots", text)
        self.assertIn("helper", text)
        self.assertIn(".extern .shared", text)
        self.assertEqual(ptx.only(PTX, "first").count("ret;"), 2)

    def test_a_scope_at_the_start_of_a_line_ends_no_kernel(self):
        scope = "{\n.param .b32 p;\n}\n"
        text = f".visible .entry one()\n{{\n{scope}\tst.b32 one;\n}}\n.visible .entry two()\n{{\n\tret;\n}}\n"
        self.assertNotIn("one", ptx.only(text, "two"))
        self.assertNotIn("two", ptx.only(text, "one"))
        self.assertIn("st.b32", ptx.only(text, "one"))

    def test_the_pragma_stands_at_the_top_of_the_kernel(self):
        text = kept.with_pragma(ptx.only(PTX, "second"))
        self.assertEqual(text.count(kept.PRAGMA_LINE), 1)
        self.assertIn(f".reqntid 128\n{{\n{kept.PRAGMA_LINE}\n\tret;", text)


class Launches(unittest.TestCase):
    def test_of_candle_by_type_and_columns(self):
        name = "_ZL9mul_mat_qIL9ggml_type{}ELi{}ELb1EEvPKcPKiS3_S3_PfS4_iiiiiiiiiiiiiiiiii"
        launch = lambda *of: launches.launch_of("candle__mmq_gguf_mmq_instance_q8_0.bc", name.format(*of))  # noqa: E731
        self.assertEqual(launch(8, 128), launches.Launch(256, 512 + 38912 + 18432))
        self.assertEqual(launch(8, 8), launches.Launch(256, 32 + 38912 + 2048))
        self.assertEqual(launch(10, 128), launches.Launch(256, 512 + 51200 + 18432))
        self.assertEqual(launches.launch_of("candle__quantized.bc", "mul_mat_q3_K"), launches.Launch(128, 0))
        self.assertEqual(launches.launch_of("candle__quantized.bc", "dequantize_mul_mat_vec_q3_k"), launches.Launch())

    def test_of_triton_by_its_metadata_and_of_others_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "fla__k.json").write_text('{"name": "k", "num_warps": 8, "shared": 1024}')
            self.assertEqual(launches.launch_of(f"{folder}/fla__k.ll", "k"), launches.Launch(256, 1024))
        self.assertEqual(launches.launch_of("dfdx__k.bc", "mul_mat_q"), launches.Launch())
        for kind in ("13__nv_bfloat16", "6__half"):
            marlin = f"_Z6MarlinI{kind}Li128ELi1ELi8ELi4ELi4ELin1E"
            of = launches.launch_of("mrs-quant__marlin_marlin_matmul_f16.bc", marlin)
            self.assertEqual(of, launches.Launch(128, 98_304))


def figures(local_bytes, instructions=100, warps=16, static=0, **more):
    words = {"local_words": local_bytes // 4, "shared_words": static // 64}
    return {"local_bytes": local_bytes, "instructions": instructions, "warps": warps, "static": static} | words | more


class Table(unittest.TestCase):
    PLAN = SimpleNamespace(sources={"candle": {"lineage": "ggml"}, "fla": {"lineage": "fla"}})

    @staticmethod
    def result(module, name, stock, way, **more):
        kernel = searched.Kernel(module, name, "", launches.Launch(), module.startswith("fla"))
        stock = figures(*stock, is_of_matrices=name == "m")
        return kernel, {kept.STOCK: stock, kept.AUTO: way and figures(*way)} | more

    def test_rows_of_lineages_and_of_all_with_slots_and_shares(self):
        results = [
            self.result("candle__a", "k", (80,), (40, 110, 16, 1024)),
            self.result("candle__a", "l", (8,), (8,)),
            self.result("candle__a", "n", (800,), (800,)),
            self.result("candle__b", "m", (400,), (400,)),
            self.result("fla__c", "k", (20,), (0, 101, 12)),
        ]
        lines = kept.shown(results, [kept.AUTO], self.PLAN)
        rows = {line.partition("  ")[0]: line.split("  ") for line in lines}
        titles = ["CUDA, ggml", "Triton, fla", "peak of matrix instructions", "other peaks", "all"]
        self.assertEqual([title for title in titles if f"{title}: auto" in rows], titles)
        self.assertEqual(kept.row_of("", [(of[kept.STOCK], of[kept.AUTO]) for _, of in results])[1:], [
            "5", "1", "1,248", "-4.6 %", "-71.4 %", "1,024", "312", "+16", "76", "511", "+2.2 %", "+0.5 %",
        ])  # fmt: skip
        text = "\n".join(lines)
        self.assertIn("auto: 1 kernels with more local bytes or more than 3 % more instructions", text)
        self.assertIn("candle__a k: bytes and instructions 80 → 40, 100 → 110", text)
        self.assertIn("fewer warps: fla__c k", text)

    def test_a_kernel_without_an_answer_of_each_way_counts_nowhere(self):
        of = self.result("candle__a", "k", (80,), (40,))
        missing = (of[0], {kept.STOCK: of[1][kept.STOCK]})
        self.assertEqual(kept.shown([missing], [kept.AUTO], self.PLAN)[0], "no kernel")

    def test_cicc_has_rows_for_the_kernels_that_it_compiles(self):
        results = [
            self.result("candle__a", "k", (80,), (40,), cicc=figures(8)),
            self.result("candle__a", "l", (8,), (8,)),
        ]
        lines = kept.shown(results, [kept.AUTO, kept.CICC], self.PLAN)
        (line,) = [line for line in lines if line.startswith("all: those of cicc, cicc")]
        self.assertEqual(line.split()[5:9], ["1", "0", "8", "-90.0"])

    def test_the_best_slack_keeps_the_warps_and_stock_is_the_last_resort(self):
        stock = figures(80)
        fewer_warps, fewer_bytes, shorter = figures(0, 90, 8), figures(8, 120), figures(8, 110)
        self.assertIs(kept.best(stock, [fewer_warps, fewer_bytes, shorter]), shorter)
        self.assertIs(kept.best(stock, [fewer_warps]), stock)


if __name__ == "__main__":
    unittest.main()
