/* What ROMIO's Lustre driver needs of Lustre's header, so that it is built where there is no Lustre.
   recorder.c answers the two requests; nothing here is sent to a kernel. */
#ifndef XC40IO_STAND_IN_LUSTRE_USER_H
#define XC40IO_STAND_IN_LUSTRE_USER_H

#include <fcntl.h>
#include <linux/types.h>
#include <sys/ioctl.h>

#define LOV_USER_MAGIC 0x0BD10BD0
#define LL_IOC_LOV_SETSTRIPE _IOW('f', 154, long)
#define LL_IOC_LOV_GETSTRIPE _IOW('f', 155, long)

#ifndef O_LOV_DELAY_CREATE
#define O_LOV_DELAY_CREATE 0 /* any file system makes a file when it is opened */
#endif

struct lov_user_ost_data {
    __u64 object[2];
    __u32 l_ost_gen;
    __u32 l_ost_idx;
} __attribute__((packed));

struct lov_user_md {
    __u32 lmm_magic;
    __u32 lmm_pattern;
    __u64 object[2];
    __u32 lmm_stripe_size;
    __u16 lmm_stripe_count;
    __u16 lmm_stripe_offset;
    struct lov_user_ost_data lmm_objects[];
} __attribute__((packed));

#endif
