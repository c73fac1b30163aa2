# Runs a command at most once, detached from the connection, and follows it. Arguments: this text, the mode, the command's
# name, the digest of its script, the size of the script on standard input, how much of the output is known, and 1 to prune.
# The output goes to standard output; the last line of standard error reports how the command ended.
#
# The command's folder has claim (process, digest, boot and start time, made once), output, stopped (why it was stopped) and
# exit (status and why). If the process of the claim is gone and there is no exit, the status is unknown.
#
# This text must not have apostrophes. Neither flock nor anything else that is not POSIX is needed, except setsid on Linux.
set -u
mask=$(umask)
umask 077
pid= owner= claimed=
text=$1 mode=$2 digest=$4 size=$5 offset=$6 prune=$7
root=${XDG_STATE_HOME:-$HOME/.local/state}/lumi/tasks
dir=$root/$3

say() {
	echo "lumi: $*" >&2
	exit 0
}

nap() { sleep "$1" 2>/dev/null || sleep 1; }

# identify sets identity, which distinguishes the process $1 from later ones with its PID. It fails if the process is not running.
identify() {
	identity= boot=
	if [ -r /proc/self/stat ]; then
		{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
		{ read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
		set -- ${stat##*) }
		case $1 in Z | X) return 1 ;; esac
		shift 19
		identity="$boot $1"
	else
		identity=$(sysctl -n kern.boottime 2>/dev/null; ps -o lstart= -p "$1") || return
		identity=$(echo $identity)
	fi
}

# alive reports whether the process of the claim in $dir is running. It sets pid, owner (the digest) and claimed.
alive() {
	read -r pid owner claimed 2>/dev/null <"$dir/claim" && identify "$pid" && [ "$identity" = "$claimed" ]
}

# claim creates the claim of this process atomically, unless there is one.
claim() {
	identify $$
	echo "$$ $digest $identity" >"$dir/claim.$$"
	ln "$dir/claim.$$" "$dir/claim" 2>/dev/null
	set -- $?
	rm -f "$dir/claim.$$"
	return "$1"
}

record() {
	reason=
	[ -e "$dir/stopped" ] && read -r reason <"$dir/stopped"
	echo "$1 $reason" >"$dir/exit.$$" && mv -f "$dir/exit.$$" "$dir/exit"
}

case $mode in
job)
	script=$size
	# Signals to the group are for the command. Its status is recorded after them.
	trap : HUP INT TERM
	if claim; then
		(umask "$offset"; exec sh "$script") </dev/null >>"$dir/output" 2>&1
		status=$?
		rm -f "$script"
		record "$status"
	fi
	rm -f "$script"
	exit
	;;
timeout | cancel)
	mkdir -p "$dir" || exit
	[ -e "$dir/exit" ] && exit
	echo "$mode" >"$dir/stopped"
	if claim; then
		record 143
	elif alive; then
		for signal in TERM KILL; do
			kill -s "$signal" -- "-$pid" 2>/dev/null || kill -s "$signal" "$pid" 2>/dev/null
			tries=0
			while alive && [ "$tries" -lt 50 ]; do
				tries=$((tries + 1))
				nap .1
			done
		done
		[ -e "$dir/exit" ] || alive || record 137
	fi
	exit
	;;
esac

mkdir -p "$dir" || exit
script=$dir/script.$$
cat >"$script" && [ "$(wc -c <"$script")" -eq "$size" ] || { rm -f "$script"; exit 1; }
if [ "$prune" = 1 ]; then
	keep=$dir
	find "$root" -type d -name "*-*" -mtime +7 | while read -r dir; do
		[ "$dir" = "$keep" ] || alive || rm -rf "$dir"
	done
fi
if [ -e "$dir/claim" ]; then
	rm -f "$script"
else
	: >>"$dir/output"
	command -v setsid >/dev/null && group=setsid || { group= && set -m; }
	$group sh -c "eval \"\$1\"" lumi "$text" job "$3" "$digest" "$script" "$mask" 0 </dev/null >/dev/null 2>&1 &
	until [ -e "$dir/claim" ]; do
		identify $! || [ -e "$dir/claim" ] || say failed
		nap .01
	done
fi

tries=0 gone=0
alive
[ "$owner" = "$digest" ] || say other
while :; do
	# The size is asked last, so that all of the output is seen. A client that stops the command may still be recording that.
	alive || gone=$((gone + 1))
	status=
	[ -e "$dir/exit" ] && read -r status reason <"$dir/exit"
	length=$(wc -c <"$dir/output")
	if [ "$length" -gt "$offset" ]; then
		tail -c "+$((offset + 1))" "$dir/output" | head -c "$((length - offset))" || exit
		offset=$((length)) tries=$((tries > 8 ? 8 : tries))
	fi
	[ "$status" ] && say exit "$status" "$reason"
	[ "$gone" -gt 10 ] && say uncertain
	tries=$((tries + 1))
	case $tries in
	? | 1?) nap .02 ;;
	2? | 3?) nap .1 ;;
	*) nap .5 ;;
	esac
done
