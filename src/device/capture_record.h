/* device/capture_record.h - the lifetime of a capture's record, and of the objects that it holds. */
#ifndef KN_DEVICE_CAPTURE_RECORD_H
#define KN_DEVICE_CAPTURE_RECORD_H

#include "device/capture_list.h"

void kn_capture_add_reference(kn_capture *capture);
/* The last one ends the record. */
void kn_capture_drop_reference(kn_capture *capture);
/* Frees everything that a record owns. It must be out of the list, with no other reader. */
void kn_capture_end_record(kn_capture *capture);
/* Releases the objects of a list that no other thread can reach. */
void kn_capture_release_held(kn_held *first);

#endif
