/* page.h -- the largest models that pages show with sliders (report/kernel/live_kernel.c, frontend/compile_live.c). */
#pragma once

enum { FIT_PAGE_LINEAR = 4, FIT_PAGE_AXES = 8, FIT_PAGE_COLUMNS = 24 };
