# SPDX-License-Identifier: MIT
# conf/CHANGELOG.md as debian/changelog.  A release that has no date yet gets
# that of the variable `now` (a number of seconds, of the last commit).
#
#	TZ=UTC LC_ALL=C awk -v now=SECONDS -f changelog.awk CHANGELOG.md >debian/changelog

# One entry, in lines of at most 78 columns.
function item(    n, i, words, line)
{
	n = split(text, words, " ")
	line = "  *"
	for (i = 1; i <= n; i++) {
		if (length(line) + 1 + length(words[i]) > 78) {
			print line
			line = "   "
		}
		line = line " " words[i]
	}
	if (n > 0)
		print line
	text = ""
}

function finish()
{
	item()
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
version != "" && /^- / { item(); text = substr($0, 3); next }
text != "" && /^  [^ ]/ { text = text " " $0; next }
{ item() }
END { finish() }
