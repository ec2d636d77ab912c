# SPDX-License-Identifier: MIT
# bash completion of statespace, statespace-exec and statespace-fcgi.
_statespace()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command= i words= site=.
	local commands='new serve fcgi exec mcp receipts fsworker check workspace doctor'

	COMPREPLY=()
	case ${COMP_WORDS[0]##*/} in
	statespace-exec) command=exec ;;
	statespace-fcgi) command=fcgi ;;
	*) [ "$COMP_CWORD" -gt 1 ] && command=${COMP_WORDS[1]} ;;
	esac
	# The words after -- are the tool's.
	for ((i = 1; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] && return
		case ${COMP_WORDS[i]} in
		-C | --directory) site=${COMP_WORDS[i + 1]} ;;
		esac
	done
	case $before in
	-c | --config | --env-file | --socket | --key)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return ;;
	-C | --directory | --root | --folder)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		return ;;
	--front)
		mapfile -t COMPREPLY < <(compgen -W 'nginx lighttpd' -- "$word")
		return ;;
	--backend)
		mapfile -t COMPREPLY < <(compgen -W 'overlay agentfs copy' -- "$word")
		return ;;
	-h | --host | -p | --port | --timeout | --workers | --next | --once | \
		--workspace | --site | --tool | -e | --env | --head | --digest | \
		--after | --most)
		return ;;
	esac
	case $command in
	'') words="$commands help --help --version" ;;
	help) [ "$COMP_CWORD" -eq 2 ] && words=$commands ;;
	serve) words='--host --port --config --timeout --env --env-file --front
		--workers --allow-no-readme --help' ;;
	fcgi) words='--config --env --env-file --timeout --socket --workers
		--help' ;;
	exec) words='--config --env --env-file --timeout --directory --json
		--dry-run --explain --yes --next --once --workspace --commit
		--get --tool --site --help' ;;
	mcp) words='--config --env --env-file --timeout --site --help' ;;
	receipts) words='verify key --key --head --help' ;;
	fsworker) words='--config --env --env-file --socket --root --help' ;;
	check) words='--config --env --env-file --json --run --run-all
		--directory --site --help' ;;
	workspace) words='create list diff commit discard export --config
		--directory --site --json --folder --backend --patch --force
		--digest --after --most --help' ;;
	doctor) words='--config --json --help' ;;
	new) words='--help' ;;
	esac
	# The second word of two commands is what they do.
	if [[ $command == @(receipts|workspace) && $word != -* &&
		$COMP_CWORD -eq 2 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${words%% --*}" -- "$word")
	elif [[ $word == -* || -z $command || $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	elif [ "$command" = exec ]; then
		# Pages of the site, and the directories that hold more.
		mapfile -t COMPREPLY < <(cd -- "$site" 2>/dev/null || exit
			compgen -f -X '!*.md' -- "$word"
			compgen -f -X '!*.markdown' -- "$word"
			compgen -d -S / -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}
complete -o filenames -F _statespace statespace statespace-exec statespace-fcgi
