//! Names that are longer than the kernel writes. They are cut, since every row and line about a sample would hold them.

use perffile::wire::text::CStr8;

/// The most bytes of a name that are taken in: the kernel writes no longer path (`PATH_MAX` with its NUL), and its other
/// names are shorter.
const LONGEST: usize = 4095;

/// Cuts a name; returns how long it was, if it was too long.
pub(crate) fn cut(name: &mut CStr8<'_>) -> Option<usize> {
    let bytes = name.bytes();
    let next = bytes.get(LONGEST)?;
    // Not in the middle of a character: of those of several bytes, all but the first begin with the bits 10.
    let is_inside = |byte: &u8| byte & 0xc0 == 0x80;
    let mut kept = bytes.get(..LONGEST)?;
    if is_inside(next) {
        let inside = kept.iter().rev().take(3).take_while(|byte| is_inside(byte)).count();
        kept = kept.get(..kept.len() - inside - 1)?;
    }
    *name = CStr8::new(kept);
    Some(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &[u8]) -> (Vec<u8>, Option<usize>) {
        let mut name = CStr8::new(name);
        let was = cut(&mut name);
        (name.bytes().to_vec(), was)
    }

    #[test]
    fn a_name_is_cut_between_characters() {
        let most = vec![b'a'; LONGEST];
        assert_eq!(kept(&most), (most.clone(), None));
        assert_eq!(kept(&[&most[..], b"b"].concat()), (most.clone(), Some(LONGEST + 1)));
        for behind in ["é", "…", "😀"] {
            for at in 1..behind.len() {
                let name = [&most[..LONGEST - at], behind.as_bytes(), b"x"].concat();
                assert_eq!(kept(&name), (most[..LONGEST - at].to_vec(), Some(name.len())), "{behind} {at}");
            }
        }
        assert_eq!(kept(&[0x80; 5000]).1, Some(5000), "bytes that are no text are cut, too");
    }
}
