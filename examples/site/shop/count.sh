# SPDX-License-Identifier: MIT
# Counts the orders of each state, slowly, and tells how far it is.
set -eu
done=0
for state in open paid cancelled; do
	echo "$done/3 counting $state orders" >&2
	sleep "$1"
	printf '%s %s\n' "$state" "$(grep -c ",$state," ../data/orders.csv)"
	done=$((done + 1))
done
echo "3/3 done" >&2
