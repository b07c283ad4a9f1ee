// Generic functions, closures, traits and iterators, so that Rust's names and inlining are seen.
use std::collections::HashMap;
use std::hint::black_box;

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);
struct Circle(f64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.0 * self.0 * 3.0
    }
}

#[inline(never)]
fn sum_of<T: Copy + Into<u64>>(values: &[T]) -> u64 {
    values.iter().map(|value| (*value).into()).filter(|value| value % 3 != 0).sum()
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(300_u32);
    let mut words: HashMap<String, u64> = HashMap::new();
    let mut total = 0.0;
    for round in 0..rounds {
        let shapes: Vec<Box<dyn Shape>> = (0..500)
            .map(
                |n| if n % 2 == 0 { Box::new(Square(f64::from(n))) as _ } else { Box::new(Circle(2.0)) as _ },
            )
            .collect();
        total += shapes.iter().map(|shape| shape.area()).sum::<f64>();
        let numbers: Vec<u32> = (0..20_000).map(|n: u32| n.wrapping_mul(2_654_435_761) ^ round).collect();
        let mut sorted = numbers.clone();
        sorted.sort_by_key(|n| n >> 2);
        *words.entry(format!("round {}", round % 50)).or_default() += sum_of(black_box(&sorted));
    }
    println!("{total} {}", words.len());
}
