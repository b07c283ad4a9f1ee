//! Names of kernel addresses, for the conversions `%pS` and its kin.

use std::cell::RefCell;

/// Names of kernel addresses, for `%pS`, `%ps`, `%pF` and `%pf`.
pub trait SymbolNames {
    /// The symbol that holds `address`, or `None`: the address is then printed in hexadecimal.
    fn symbol(&self, address: u64) -> Option<SymbolName<'_>>;
}

/// A symbol and how far into it an address lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolName<'a> {
    /// Name without offset.
    pub name: &'a str,
    /// Bytes from the start of the symbol.
    pub offset: u64,
}

/// Knows no symbol: every address stays a number.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSymbols;

impl SymbolNames for NoSymbols {
    fn symbol(&self, _address: u64) -> Option<SymbolName<'_>> {
        None
    }
}

/// Knows no symbols, and notes which addresses it is asked for.
#[derive(Debug, Default)]
pub(super) struct Asked(RefCell<Vec<u64>>);

impl Asked {
    /// The addresses, in order.
    pub(super) fn into_addresses(self) -> Vec<u64> {
        self.0.into_inner()
    }
}

impl SymbolNames for Asked {
    fn symbol(&self, address: u64) -> Option<SymbolName<'_>> {
        self.0.borrow_mut().push(address);
        None
    }
}
