/* device/capture_record.h - how long a capture's record lives, and what goes with it. */
#ifndef KN_DEVICE_CAPTURE_RECORD_H
#define KN_DEVICE_CAPTURE_RECORD_H

#include "device/capture_list.h"

void kn_capture_add_reference(kn_capture *capture);
/* The last one ends the record. */
void kn_capture_drop_reference(kn_capture *capture);
/* The record is out of the list, and nobody else has it: gives back what belongs to it. */
void kn_capture_end_record(kn_capture *capture);
/* Releases the objects of a list that is nobody else's any more. */
void kn_capture_release_held(kn_held *first);

#endif
