/* device/launch_name.h - the kernel that was launched last on any device, for late errors. */
#ifndef KN_DEVICE_LAUNCH_NAME_H
#define KN_DEVICE_LAUNCH_NAME_H

/* Records the launch of a kernel; the name is copied. NULL records nothing. */
void kn_device_note_launch(const char *kernel_name);

/* The same for a name of static lifetime: kn_device_launch_name makes one (NULL without memory, which records
 * nothing). */
const char *kn_device_launch_name(const char *kernel_name);
void kn_device_note_launch_name(const char *name);

/* Its name, or NULL before the first. Valid for ever. */
const char *kn_device_last_launch(void);

#endif
