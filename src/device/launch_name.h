/* device/launch_name.h - the kernel that was launched last on any device, for late errors. */
#ifndef KN_DEVICE_LAUNCH_NAME_H
#define KN_DEVICE_LAUNCH_NAME_H

/* Notes the launch of a kernel; the name is copied. NULL notes nothing. */
void kn_device_note_launch(const char *kernel_name);

/* The same for a name that is known already: kn_device_launch_name gives the lasting copy of one (NULL
 * without memory, which notes nothing). */
const char *kn_device_launch_name(const char *kernel_name);
void kn_device_note_launch_name(const char *name);

/* Its name, or NULL before the first. Valid for ever. */
const char *kn_device_last_launch(void);

#endif
