/*
 * Loaded into a PostgreSQL before its own libraries: its clock is so many nanoseconds away from the machine's as the mapped file
 * says, from the moment in which they are written there, in all of its processes. Monotonic clocks go on as they are.
 * Not libfaketime: that one shows the true time to signal handlers while a process waits, so that PostgreSQL's timeouts come late
 * by the whole step, and it opens its file in them.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;
static const int64_t none = 0;
static const volatile int64_t *offset = &none;

__attribute__((constructor)) static void map_offset(void)
{
    const char *path = getenv("STEPPING_CLOCK_FILE");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);

    if (mapped != MAP_FAILED)
        offset = mapped;
    if (file >= 0)
        close(file);
}

int clock_gettime(clockid_t clock, struct timespec *result)
{
    int failed = (int) syscall(SYS_clock_gettime, clock, result);

    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t now = result->tv_sec * second + result->tv_nsec + *offset;

        result->tv_sec = now / second;
        result->tv_nsec = now % second;
    }
    return failed;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone)
{
    struct timespec now;

    (void) zone;
    clock_gettime(CLOCK_REALTIME, &now);
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL)
        *result = now.tv_sec;
    return now.tv_sec;
}
