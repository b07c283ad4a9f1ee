//! Order by counting: of many items with few different numbers, in two walks and without a comparison.

/// Items in order of a number below a limit; those that have the same stay as they were.
pub(crate) fn counted<T: Copy>(
    items: impl Iterator<Item = T> + Clone,
    limit: usize,
    number: impl Fn(&T) -> usize,
) -> Vec<T> {
    let Some(first) = items.clone().next() else { return Vec::new() };
    // Where the next item of each number goes. There are no more items than rows, whose numbers fit.
    let (mut next, mut all) = (vec![0_u32; limit + 1], 0);
    for item in items.clone() {
        all += 1;
        if let Some(count) = next.get_mut(number(&item) + 1) {
            *count += 1;
        }
    }
    let mut before = 0;
    for next in &mut next {
        before += *next;
        *next = before;
    }
    let mut sorted = vec![first; all];
    for item in items {
        let Some(next) = next.get_mut(number(&item)) else { continue };
        if let Some(slot) = sorted.get_mut(*next as usize) {
            *slot = item;
        }
        *next += 1;
    }
    sorted
}
