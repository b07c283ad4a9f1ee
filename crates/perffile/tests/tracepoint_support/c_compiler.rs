//! The C compiler of this machine as the judge of expressions.

use std::fmt::Write as _;
use std::process::Command;

/// What a C program prints for each format and its arguments, with each set of values for the fields `u`, `i`, `ul`,
/// `l`, `b`, `sb` and `h`. `None` without a compiler.
pub(crate) fn printed_by_c(prints: &[(&str, &str)], values: &[[i64; 7]]) -> Option<Vec<String>> {
    let mut source = String::from(
        "#include <stdio.h>\nstruct rec { unsigned u; int i; unsigned long ul; long l; unsigned char b; signed char sb; \
         short h; };\n#define REC (&rec)\nint main(void) {\nstatic struct rec all[] = {\n",
    );
    for [u, i, ul, l, b, sb, h] in values {
        let l = if *l == i64::MIN { "(-0x7fffffffffffffffL - 1)".to_owned() } else { format!("{l}L") };
        let ul = *ul as u64;
        writeln!(source, "{{ {u}L, {i}, {ul}UL, {l}, {b}, {sb}, {h} }},").unwrap();
    }
    source.push_str("};\n");
    for (print, arguments) in prints {
        writeln!(source, "for (int n = 0; n < {}; n++) {{ struct rec rec = all[n]; printf(\"{print}\\n\", {arguments}); }}", values.len())
            .unwrap();
    }
    source.push_str("return 0; }\n");
    let base = std::env::temp_dir().join(format!("readperf-c-{}", std::process::id()));
    let (file, program) = (base.with_extension("c"), base.with_extension("out"));
    std::fs::write(&file, source).unwrap();
    let built = Command::new("cc").args(["-w", "-o"]).arg(&program).arg(&file).status();
    let output =
        built.ok().filter(|status| status.success()).map(|_| Command::new(&program).output().unwrap());
    let _ = std::fs::remove_file(&file);
    let _ = std::fs::remove_file(&program);
    Some(String::from_utf8(output?.stdout).unwrap().lines().map(str::to_owned).collect())
}
