.syntax unified
.arch armv8-a
.fpu neon
.thumb
f:
push {r4, lr}                        @ next
stmdb sp!, {r4, r5, r6, r7, r8, lr}  @ next
ldr r3, [pc, #8]                     @ next
ldr.w r1, [r2, #400]                 @ next
sub sp, #16                          @ next
cbz r0, g                            @ branch
cmp r3, #5                           @ next
beq.n f                              @ branch
bhi.w f                              @ branch
ittet eq                             @ next
moveq r0, #1                         @ next
addeq r1, r2                         @ next
movne r0, #2                         @ next
moveq r1, #3                         @ next
it eq                                @ next
bxeq lr                              @ return?
it ne                                @ next
popne {r4, pc}                       @ return?
b.n g                                @ jump
bl f                                 @ call
blx r3                               @ call
tbb [pc, r0]                         @ jump
svc 0                                @ system
ldmia.w sp!, {r4, r5, r6, r7, r8, pc} @ return
g: bx lr                             @ return
