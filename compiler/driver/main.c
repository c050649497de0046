#include "driver/run.h"

int main(int argc, char **argv)
{
    return tkc_main(argc, (const char **)argv);
}
