/* device/device.h - the interface for the layers above. Files of this folder include single headers instead.
 */
#ifndef KN_DEVICE_DEVICE_H
#define KN_DEVICE_DEVICE_H

#include "device/backend.h"
#include "device/capture_forbid.h"
#include "device/capture_hold.h"
#include "device/cuda_peer.h"
#include "device/first_use.h"
#include "device/host_find_order.h"
#include "device/host_sort.h"
#include "device/host_threads.h"
#include "device/launch_name.h"
#include "device/lost.h"
#include "device/memory.h"
#include "device/registry.h"
#include "device/stream.h"

#endif
