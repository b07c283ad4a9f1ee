// What the tests of viewers count.
let checks = 0, failed = 0;

export function check(holds, what) {
  checks++;
  if (holds) return;
  failed++;
  console.log('FAILED: ' + what);
}

// Where a viewer cannot be had, there may be nothing to check.
export function finish({ checked = true } = {}) {
  console.log(`${checks} checks, ${failed} failed`);
  process.exit(failed || checked && !checks ? 1 : 0);
}
