reals=f64
sources="$suite/suite.c $(echo "$suite"/*/hand.c "$suite"/*/case*.c)"
if [ $mode = tool ]; then
    pkg-config --exists jansson || { echo "there is no jansson (Debian: libjansson-dev)" >&2; exit 77; }
    program=tool libraries=$(pkg-config --libs jansson) flags="$flags $(pkg-config --cflags jansson) -I$suite/tool"
    sources="$(echo "$suite"/tool/*.c "$suite"/*/tool.c)"
fi
