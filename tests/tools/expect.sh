# For scripts of tests/driver.

# expect STATUS ARGUMENTS...: runs tkc, whose output goes to the files out and err. A failure has a message.
expect()
{
    want=$1
    shift
    status=0
    "$TKC" "$@" >out 2>err || status=$?
    [ $status = "$want" ] || { echo "tkc $*: status $status, not $want"; cat err; exit 1; }
    [ "$want" = 0 ] || [ -s err ] || { echo "tkc $*: no message"; exit 1; }
}

# refused STATUS ARGUMENTS...: the same, and nothing but messages comes out.
refused()
{
    expect "$@"
    [ ! -s out ] || { echo "tkc $*: output beside messages"; exit 1; }
}
