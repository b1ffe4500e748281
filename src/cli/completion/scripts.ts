import type { Words } from './words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script that a shell reads to complete `callsheet`. */
export function completionScript(shell: Shell, words: readonly Words[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(words);
    case 'zsh':
      // zsh reads completions of bash once it is asked to.
      return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`;
    case 'fish':
      return fishScript(words);
  }
}

function bashScript(words: readonly Words[]): string {
  const commands = words.slice(1).map(({ path }) => `"${path}"`);
  const values = words.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flag, choices }) => `    "${path} ${flag}") words="${choices.join(' ')}" ;;`),
  );
  const rest = words.map(({ path, commands: inner, options, choices }) => {
    const all = [...inner.map(({ name }) => name), ...choices, ...options.map(({ flag }) => flag)];
    return `      "${path}") words="${all.join(' ')}" ;;`;
  });
  return `_callsheet() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local at="callsheet" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${commands.join('|')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $prev" in
${values.join('\n')}
    *)
      case "$at" in
${rest.map((line) => `  ${line}`).join('\n')}
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _callsheet callsheet
`;
}

/** Between single quotes, as fish reads it. */
function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

function fishScript(words: readonly Words[]): string {
  const lines = words.flatMap(({ path, commands, options, choices }) => {
    const names = path.split(' ').slice(1);
    const inner = commands.map(({ name }) => name).join(' ');
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const none = inner === '' ? [] : [`not __fish_seen_subcommand_from ${inner}`];
    const when = [...seen, ...none].join('; and ');
    const start =
      when === '' ? 'complete -c callsheet' : `complete -c callsheet -n ${quoted(when)}`;
    return [
      ...commands.map(
        ({ name, description }) => `${start} -f -a ${name} -d ${quoted(description)}`,
      ),
      ...(choices.length > 0 ? [`${start} -f -a ${quoted(choices.join(' '))}`] : []),
      ...options.map(({ flag, description, takesValue, choices: values }) => {
        const value =
          values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : takesValue ? ' -r' : '';
        return `${start} -l ${flag.slice(2)}${value} -d ${quoted(description)}`;
      }),
    ];
  });
  return `${lines.join('\n')}\n`;
}
