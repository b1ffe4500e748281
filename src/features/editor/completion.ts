import type { CommonFlags, Context } from '../../console/context.ts';
import type { Shell } from '../../console/flags.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';

/** `callsheet completion`: the script that makes a shell complete commands, flags, their values and addresses. */
export async function completion(
  shell: Shell,
  _flags: CommonFlags,
  { terminal }: Context,
): Promise<ExitCode> {
  terminal.out(completionScript(shell));
  return EXIT.done;
}

/**
 * The script that a shell reads to complete `callsheet`. It asks Callsheet itself what may come next, so that it is
 * as new as the Callsheet that it is asked of, and knows the stack. Whatever goes wrong there, nothing is offered.
 */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

// Before version 4 bash has no compopt and no mapfile; macOS brings such a one.
const BASH = `_callsheet() {
  local line first=1 IFS=$'\\n'
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$first" = 1 ]; then
      first=0
      case "$line" in
        files) compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$2")) ;;
        folders) compopt -o dirnames 2>/dev/null || COMPREPLY=($(compgen -d -- "$2")) ;;
      esac
      continue
    fi
    line="\${line%%$'\\t'*}"
    # What is only listed is shown as it is; what is put into the line stays quoted.
    [ "$COMP_TYPE" = 63 ] && printf -v line '%b' "\${line//\\\\/}"
    case "$line" in *=) compopt -o nospace 2>/dev/null ;; esac
    COMPREPLY+=("$line")
  done < <("$1" __complete bash "\${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
}
complete -F _callsheet callsheet
`;

const ZSH = `#compdef callsheet
_callsheet() {
  local -a lines values shown
  local line typed="$PREFIX"
  [[ -n "\${compstate[quote]}" ]] && typed="\${compstate[quote]}$PREFIX"
  lines=("\${(@f)$("\${(Q)words[1]}" __complete zsh "\${(@Q)words[2,CURRENT-1]}" "$typed" 2>/dev/null)}")
  case "\${lines[1]}" in
    files) _files ;;
    folders) _files -/ ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${line%%$'\\t'*}")
    if [[ "$line" == *$'\\t' ]]; then
      shown+=("\${line%$'\\t'}")
    else
      shown+=("\${line%%$'\\t'*}  -- \${line#*$'\\t'}")
    fi
  done
  (( \${#values} )) || return
  local -a flags
  [[ "\${values[1]}" == *= ]] && flags=(-S '')
  compadd -l -d shown "\${flags[@]}" -a values
}
if [[ "\${funcstack[1]}" == _callsheet ]]; then
  _callsheet "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
  compdef _callsheet callsheet
fi
`;

const FISH = `function __callsheet_complete
    set -l words (commandline -opc)
    set -l lines ($words[1] __complete fish $words[2..-1] (commandline -ct) 2>/dev/null)
    switch "$lines[1]"
        case files folders
            __fish_complete_path (commandline -ct)
    end
    printf '%s\\n' $lines[2..-1]
end
complete -c callsheet -f -a '(__callsheet_complete)'
`;

const SCRIPTS: { readonly [shell in Shell]: string } = { bash: BASH, zsh: ZSH, fish: FISH };
