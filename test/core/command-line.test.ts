import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  codeSpan,
  commandLine,
  commandsIn,
  quoted,
  splitCommands,
} from '../../src/core/command-line.ts';

const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !text.includes('\n')),
  fc.constantFrom('agent.clinic["a `b` c"]', "it's", '`', '\\', '/a folder/with ü', '--env'),
);

test('a command is found again in any sentence as it was put there', () => {
  const command = fc
    .tuple(fc.array(word, { maxLength: 4 }), fc.option(word), fc.array(word, { maxLength: 2 }))
    .map(([words, env, varFile]) =>
      commandLine(['pull', ...words.map(quoted)].join(' '), {
        dir: '.',
        env: env ?? undefined,
        varFile,
      }),
    );
  const between = fc.constantFrom('To keep it: ', ', or ', ' (', 'it`s `x` ', 'a ` b ', ': ');
  fc.assert(
    fc.property(fc.array(fc.tuple(between, command), { maxLength: 4 }), (parts) => {
      const text = parts.map(([before, one]) => before + codeSpan(one)).join('. ');
      expect(commandsIn(text)).toEqual(parts.map(([, one]) => one));
      const kept = splitCommands(text).map((one) =>
        one.isCommand ? codeSpan(one.text) : one.text,
      );
      expect(kept.join('')).toBe(text);
    }),
  );
});

test('a command is for the stack as it was read, without values that may be secret', () => {
  const at = {
    dir: 'fleet',
    env: 'prod',
    var: ['key=1'],
    varFile: ['a b.yaml'],
    allowEnv: ['CITY'],
  };
  expect(commandLine('apply', at)).toBe(
    "callsheet apply --dir fleet --env prod --var-file 'a b.yaml' --allow-env CITY",
  );
});

test.each([
  ['none', 'Plan again.', []],
  [
    'one with variables before it',
    "Run `A=1 B='x y' callsheet rollback`.",
    ["A=1 B='x y' callsheet rollback"],
  ],
  ['another program', '`git diff` shows it', ['git diff']],
  ['code that is no command', 'without `total`, `a b`', []],
  ['accents that do not end', 'run `callsheet plan', []],
  ['an accent of a text before it', 'the name `x is live: `callsheet drift`', ['callsheet drift']],
  ['nothing', '', []],
])('commands in a text: %s', (_, text, commands) => {
  expect(commandsIn(text)).toEqual(commands);
});
