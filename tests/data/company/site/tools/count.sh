#!/bin/sh
set -eu
i=0
while [ "$i" -lt "$1" ]; do
	i=$((i + 1))
	echo "$i/$1 shelf $i" >&2
	sleep "$2"
done
echo "$1 shelves counted${3:+, verbose $3}"
