import { openTable } from '../../src/cli/command-table.ts';
import { EXIT, type ExitName } from '../../src/core/errors.ts';
import { features } from '../../src/features/index.ts';
import { anchorOf, code, page, paragraph, sentence, table } from './markdown.ts';

const { commands: COMMANDS } = openTable(features);

const NAMES = Object.keys(EXIT) as readonly ExitName[];

/** The meaning and the remedy of each exit code. The reference and the README take them from here. */
export const EXIT_WORDS: {
  readonly [name in ExitName]: { readonly means: string; readonly remedy: string };
} = {
  done: {
    means: 'done; with `--detailed-exitcode`, nothing to change',
    remedy: 'Nothing. Read the warnings on standard error, if there are any.',
  },
  error: {
    means: 'error: usage, configuration, API, network',
    remedy:
      'Read standard error: it names the place and what to do. With `--format json` standard output holds a `callsheet-error` document. If a run had begun, `callsheet runs` shows what it did, and the next plan continues from there.',
  },
  changes: {
    means: 'with `--detailed-exitcode`: there are changes',
    remedy:
      'After `plan`: review the plan and apply it. After `drift`: apply to restore the configuration in Git, or `callsheet pull` to write the live changes into the configuration.',
  },
  partial: {
    means:
      'ended in part: a change failed, or was blocked by a failure; some stacks of a tree could not be planned',
    remedy:
      'The ledger of the run lists each change with its result. Fix the failures, plan again and apply the rest, or run `callsheet rollback`.',
  },
  refused: {
    means:
      'refused by a guard: protected, conflict, threshold, in use, freeze window, rollback hold',
    remedy:
      'Nothing was written. Each refusal gives its reason, and the flag that overrides it if there is one. `--skip-refused` leaves it out and applies the rest.',
  },
  stale: {
    means:
      'stale: what the plan rests on changed since, or the checkout lacks the commit that was applied last',
    remedy:
      'The message names the change, and its author if the platform records one. Plan again, review, and apply the new plan. If a run had already begun, `callsheet runs` shows its ledger.',
  },
  locked: {
    means: 'the state is locked by another run',
    remedy:
      'Wait until that run ends. The lock of a dead process ends by itself: at once on the same machine, within 30 seconds elsewhere. `callsheet state unlock` shows who holds it.',
  },
  interrupted: {
    means: 'interrupted, stopped cleanly',
    remedy:
      '`apply` and `rollback` finish the requests in flight and record them: plan again to continue, or run `callsheet rollback`. Other commands have written nothing.',
  },
};

export function exitHeading(name: ExitName): string {
  return `${EXIT[name]} ${name}`;
}

/** The page of exit codes. */
export function exitsPage(): string {
  return page(
    '# Exit codes',
    paragraph(
      'They are the same for every command and every output format. A pipeline may rely on them.',
    ),
    table(
      ['exit', 'means'],
      NAMES.map((name) => [
        `[${EXIT[name]}](#${anchorOf(exitHeading(name))})`,
        EXIT_WORDS[name].means,
      ]),
    ).join('\n'),
    ...NAMES.flatMap((name) => [
      `## ${exitHeading(name)}`,
      sentence(EXIT_WORDS[name].means),
      paragraph(`**What to do** ${EXIT_WORDS[name].remedy}`),
      paragraph(`**Ends so** ${commandsWith(name)}`),
    ]),
  );
}

function commandsWith(name: ExitName): string {
  const those = COMMANDS.filter(({ exits }) => exits.includes(name));
  if (those.length === COMMANDS.length) return 'every command.';
  const links = those.map(
    (one) => `[${code(one.name)}](commands.md#${anchorOf(`callsheet ${one.name}`)})`,
  );
  return `${links.join(', ')}.`;
}
