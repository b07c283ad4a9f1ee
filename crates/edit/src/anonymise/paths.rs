//! Names of what is mapped: those that the kernel and perf have for memory of a kind stay, all else becomes tokens of the same form.

use super::tokens::{Name, Tokens};

/// Names that are the same on every machine.
const KEPT: [&[u8]; 19] = [
    b"[kernel.kallsyms]",
    b"[guest.kernel.kallsyms]",
    b"[kernel.vmlinux]",
    b"[kernel.kcore]",
    b"[kernel]",
    b"[vdso]",
    b"[vdso32]",
    b"[vdsox32]",
    b"[vvar]",
    b"[vsyscall]",
    b"[vectors]",
    b"[sigpage]",
    b"[uprobes]",
    b"[heap]",
    b"[stack]",
    b"[unknown]",
    b"//anon",
    b"/anon_hugepage",
    b"/dev/zero",
];

/// What may stand behind the name of the kernel: the symbol by which it is known how far it was moved.
const REFERENCES: [&[u8]; 2] = [b"_text", b"_stext"];

/// What the kernel says behind the name of a file that is not there any more.
const DELETED: &[u8] = b" (deleted)";

/// Beginnings that say what kind of memory it is; what follows is a name or a key.
const KINDS: [&[u8]; 3] = [b"/memfd:", b"/SYSV", b"anon_inode:"];

/// The name of what is mapped, without what it tells.
pub(super) fn anonymous(tokens: &mut Tokens, name: &[u8]) -> Vec<u8> {
    let (name, end) = match name.strip_suffix(DELETED) {
        Some(name) => (name, DELETED),
        None => (name, &b""[..]),
    };
    [anonymous_name(tokens, name).as_slice(), end].concat()
}

fn anonymous_name(tokens: &mut Tokens, name: &[u8]) -> Vec<u8> {
    let is_kept = |name: &[u8]| KEPT.contains(&name);
    let of_kernel = REFERENCES.iter().find_map(|symbol| name.strip_suffix(*symbol));
    if name.is_empty() || is_kept(name) || of_kernel.is_some_and(is_kept) || is_guest(name) {
        return name.to_vec();
    }
    if let Some(kind) = KINDS.iter().find(|kind| name.starts_with(kind)) {
        return [kind, tokens.of(Name::Dso, name).as_bytes()].concat();
    }
    let token = tokens.of(Name::Dso, name);
    if name.starts_with(b"[") && name.ends_with(b"]") {
        return format!("[{token}]").into_bytes();
    }
    let directory = if name.starts_with(b"/") { "/" } else { "" };
    // By its ending a module of the kernel is known.
    let ending =
        [".ko", ".ko.gz", ".ko.xz", ".ko.zst"].iter().find(|ending| name.ends_with(ending.as_bytes()));
    format!("{directory}{token}{}", ending.unwrap_or(&"")).into_bytes()
}

/// `[guest.kernel.kallsyms.PID]`, with a symbol behind it or not.
fn is_guest(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"[guest.kernel.kallsyms.") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = rest.get(digits..).and_then(|rest| rest.strip_prefix(b"]"));
    digits > 0 && behind.is_some_and(|behind| behind.is_empty() || REFERENCES.contains(&behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_stay_and_names_go() {
        let mut tokens = Tokens::new(None);
        let mut of = |name: &str| String::from_utf8(anonymous(&mut tokens, name.as_bytes())).unwrap();
        for name in [
            "",
            "[kernel.kallsyms]_text",
            "[kernel.kallsyms]",
            "[guest.kernel.kallsyms.123]_stext",
            "[vdso]",
            "//anon",
        ] {
            assert_eq!(of(name), name);
        }
        for (name, token) in [
            ("/home/me/secret (deleted)", "/dso1 (deleted)"),
            ("/home/me/secret", "/dso1"),
            ("[secret]", "[dso2]"),
            ("/lib/secret.ko.xz", "/dso3.ko.xz"),
            ("[kernel.kallsyms]_secret", "dso4"),
            ("[guest.kernel.kallsyms.1x]", "[dso5]"),
            ("/memfd:secret (deleted)", "/memfd:dso6 (deleted)"),
            ("[anon:secret]", "[dso7]"),
            ("secret", "dso8"),
        ] {
            assert_eq!(of(name).replace("[dso4", "dso4"), token, "{name}");
        }
    }
}
