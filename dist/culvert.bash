# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# bash completion for culvert(1)

# What can be captured: ports, tunnel:VTEP, network:NAME.
_culvert_sources()
{
	_culvert_names port "$@"
	_culvert_names tunnel "$@" | sed 's/^/tunnel:/'
	_culvert_names network "$@" | sed 's/^/network:/'
}

# Names of one kind, asked of the daemon; nothing when it does not answer.
_culvert_names()
{
	local noun=$1
	shift
	timeout 2 culvert "$@" -j "$noun" 2>/dev/null |
		grep -oE '"(name|vtep)":"[^"]*"' | cut -d'"' -f4
}

_culvert()
{
	local word=${COMP_WORDS[COMP_CWORD]} i noun='' last='' words='' n=0
	local options=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-s | -n | --socket | --instance)
			options+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}")
			((i++))
			;;
		--)
			# what stands behind it is tcpdump's
			[ "$noun" != capture ] || return
			;;
		-*) ;;
		*)
			[ -n "$noun" ] || noun=${COMP_WORDS[i]}
			((n++))
			;;
		esac
	done
	last=${COMP_WORDS[COMP_CWORD - 1]}
	case $last in
	-s | --socket)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	-n | --instance) return ;;
	esac

	case $noun:$last in
	:*) words='status port network tunnel fdb flow drops capture config log help -s -n -j --version' ;;
	status:*) words='--check' ;;
	port:port) words="enable disable $(_culvert_names port "${options[@]}")" ;;
	port:enable | port:disable) words=$(_culvert_names port "${options[@]}") ;;
	network:network) words=$(_culvert_names network "${options[@]}") ;;
	tunnel:tunnel) words=$(_culvert_names tunnel "${options[@]}") ;;
	fdb:fdb) words='network port vtep mac add del flush' ;;
	fdb:network | fdb:add | fdb:del) words=$(_culvert_names network "${options[@]}") ;;
	fdb:port) words=$(_culvert_names port "${options[@]}") ;;
	fdb:vtep) words=$(_culvert_names tunnel "${options[@]}") ;;
	fdb:mac) ;;
	fdb:flush) words='network port' ;;
	fdb:*)
		if [ "$n" = 4 ]; then
			words="$(_culvert_names port "${options[@]}") $(_culvert_names tunnel "${options[@]}")"
		else
			words='network port vtep mac'
		fi
		;;
	flow:flow) words='add replace del dump count' ;;
	flow:add) words='-' ;;
	flow:replace)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	flow:del) words='all --strict' ;;
	flow:dump) words='--strict --names --no-names' ;;
	flow:count) words='--strict' ;;
	drops:drops) words=$(_culvert_names port "${options[@]}") ;;
	capture:-w)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	capture:--dir) words='in out both' ;;
	capture:--device) words=$(cd /sys/class/net && echo *) ;;
	capture:--filter | capture:--snaplen | capture:--sample) ;;
	capture:*)
		words="--dir --filter --snaplen --sample --inner --drops --device -w --"
		[[ $word = -* ]] || words="$(_culvert_sources "${options[@]}") $words"
		;;
	config:config) words='check show' ;;
	config:*)
		mapfile -t COMPREPLY < <(compgen -W --offline -- "$word"; compgen -f -- "$word")
		return
		;;
	log:log) words='error warn info debug' ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _culvert culvert
