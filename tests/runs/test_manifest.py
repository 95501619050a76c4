"""What a run's manifest says of the machine."""

from __future__ import annotations

import platform

from dcrl.runs.manifest import manifest, processor


def test_the_processor_is_named_by_its_model_where_the_system_names_it(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t: fpu\n\nmodel name\t: another\n")
    assert processor(cpuinfo) == "AMD EPYC 7B13"


def test_processors_of_one_name_differ_by_family_model_and_vector_instructions(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    core = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nflags\t\t: fpu fma avx2 avx512f\n"
    cpuinfo.write_text(core + "\nprocessor\t: 1\nmodel\t\t: 99\n")
    assert processor(cpuinfo) == "AMD EPYC (family 25, model 17, FMA, AVX2, AVX-512)"


def test_without_a_model_the_processor_is_the_architecture(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\n")
    expected = platform.processor() or platform.machine()
    assert processor(cpuinfo) == processor(tmp_path / "none") == expected


def test_the_manifest_names_the_processor():
    assert manifest()["processor"] == processor()
