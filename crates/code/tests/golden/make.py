#!/usr/bin/env python3
"""Assembles the files NAME.s here and writes NAME.txt: for each instruction its address, its bytes in the order of memory, the flow that
stands in its comment, and what objdump says of it. Needs the assemblers of Debian's gcc-*-linux-gnu packages and binutils-multiarch."""
import pathlib, re, subprocess, sys, tempfile

ASSEMBLERS = {
    "x86_64": ["x86_64-linux-gnu-as"], "x86": ["x86_64-linux-gnu-as", "--32"],
    "arm64": ["aarch64-linux-gnu-as"], "arm": ["arm-linux-gnueabihf-as"], "thumb": ["arm-linux-gnueabihf-as"],
    "riscv64": ["riscv64-linux-gnu-as", "-march=rv64gc"], "s390x": ["s390x-linux-gnu-as", "-march=z13"],
    "ppc64": ["powerpc64-linux-gnu-as", "-mpower9"], "ppc64le": ["powerpc64le-linux-gnu-as", "-mpower9"],
}
REVERSED = ("arm64", "arm", "thumb", "riscv64")  # objdump prints numbers
here = pathlib.Path(__file__).parent
for name, assembler in ASSEMBLERS.items():
    source = (here / f"{name}.s").read_text()
    flows = re.findall(r"(?:#|//|@) (next|branch|jump|call|return\??|system|stop)$", source, re.M)
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/o"
        subprocess.run([*assembler, "-o", file, here / f"{name}.s"], check=True)
        # Linked, so that calls lead somewhere.
        linker = assembler[0].replace("-as", "-ld")
        emulation = ["-m", "elf_i386"] if name == "x86" else []
        subprocess.run([linker, *emulation, "-e", "0", "-Ttext=0x10000", "-o", f"{folder}/l", file], check=True)
        text = subprocess.run(["objdump", "-dwz", f"{folder}/l"], check=True, capture_output=True, text=True).stdout
    lines = []
    for line in text.splitlines():
        found = re.match(r"\s*([0-9a-f]+):\t([0-9a-f ]+)\t(.*)", line)
        if not found:
            continue
        words = found[2].split()
        if name in REVERSED:
            words = ["".join(re.findall("..", word)[::-1]) for word in words]
        words = "".join(words)
        said = re.sub(r"\s+", " ", re.sub(r"\s+(#|//|@) .*", "", re.sub(r" <.*?>", "", found[3]))).strip()
        lines.append((found[1], words, said))
    if name == "s390x":
        lines = lines[: len(flows)]  # without what fills the section up
    if len(lines) != len(flows):
        sys.exit(f"{name}: {len(flows)} instructions written, {len(lines)} disassembled")
    rows = ["|".join([address, words, flow, said]) for (address, words, said), flow in zip(lines, flows)]
    (here / f"{name}.txt").write_text("\n".join(rows) + "\n")
