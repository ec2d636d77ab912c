# SPDX-License-Identifier: MIT
# conf/CHANGELOG.md as debian/changelog.  A release that has no date yet gets
# that of the variable `now` (a number of seconds, of the last commit).
#
#	TZ=UTC LC_ALL=C awk -v now=SECONDS -f changelog.awk CHANGELOG.md >debian/changelog

function finish()
{
	if (version != "")
		printf "\n -- The statespace authors " \
		    "<statespace@packages.invalid>  %s\n\n",
		    strftime("%a, %d %b %Y %H:%M:%S +0000", seconds)
}

/^## / {
	finish()
	version = $2
	date = $3
	gsub(/[()]/, "", date)
	seconds = now
	if (date ~ /^[0-9]+-[0-9]+-[0-9]+$/) {
		gsub(/-/, " ", date)
		seconds = mktime(date " 12 00 00")
	}
	printf "statespace (%s-1) unstable; urgency=medium\n\n", version
	next
}
version != "" && /^- / { print "  * " substr($0, 3); next }
version != "" && /^  [^ ]/ { print "    " substr($0, 3); next }
END { finish() }
