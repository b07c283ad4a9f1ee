f:
stp x29, x30, [sp, #-32]!            // next
mov x29, sp                          // next
adrp x0, f                           // next
add x0, x0, #0x18                    // next
ldr w1, [x0, #12]                    // next
ldrb w3, [x3, x4]                    // next
cmp w1, #0x5                         // next
csel w0, w1, w2, cs                  // next
ubfx x1, x2, #8, #16                 // next
fmadd d0, d1, d2, d3                 // next
ld1 {v0.16b, v1.16b}, [x0]           // next
ldaxr x1, [x2]                       // next
b.cs f                               // branch
b.ne f                               // branch
cbz x0, g                            // branch
tbnz w0, #31, g                      // branch
b g                                  // jump
br x16                               // jump
bl g                                 // call
blr x3                               // call
svc #0                               // system
brk #0x3e8                           // stop
ldp x29, x30, [sp], #32              // next
g: ret                               // return
