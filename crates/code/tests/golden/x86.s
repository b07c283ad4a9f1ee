f:
inc %eax                             # next
push $0x804a000                      # next
mov 0x804a010,%eax                   # next
mov %gs:0x14,%eax                    # next
lea 0x4(%esp,%ecx,1),%edx            # next
call g                               # call
call *%edx                           # call
jmp *0x804a00c                       # jump
jne f                                # branch
jecxz f                              # branch
int $0x80                            # system
fldl (%esp)                          # next
g: ret                               # return
