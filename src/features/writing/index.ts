import {
  CONCURRENCY,
  flag,
  format,
  OFFLINE,
  PIPELINES,
  permit,
  READING,
  repeatable,
} from '../../console/flags.ts';
import type { Feature } from '../../feature.ts';

/** Writes the YAML of stacks: new ones, those of an account that is live, live values, the canonical order and style. */
export const writing: Feature = {
  name: 'writing',
  purposes: {
    init: 'Start',
    export: 'Start',
    import: 'Start',
    fmt: 'Change',
    pull: 'Look',
    schema: 'Fleets, editor, simulator, applications',
  },
  commands: [
    {
      name: 'init',
      does: 'write a new stack: settings, an agent with its prompt, a pipeline',
      flags: [
        flag('--base-url <url>', 'base address of the platform'),
        flag('--organization <name=id>', 'a name for the organization, and its id'),
        flag('--agent <name>', 'name of the first agent (by default Front desk)'),
        flag('--ci <pipeline>', 'the pipeline to write at the top of the repository', {
          choices: PIPELINES,
        }),
        flag('--recursive', 'one pipeline for all stacks in --dir and below; --ci says which'),
        flag('--empty', 'no resources'),
        flag('--keep-existing', 'keep existing files, and write the rest'),
        flag('--yes', 'ask nothing, even on a terminal'),
      ],
      examples: [
        'callsheet init',
        'callsheet init --yes --organization harbor=3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 --ci github',
        'callsheet init --recursive --ci github',
      ],
      exits: READING,
      load: async () => (await import('./init/init.ts')).init,
    },
    {
      name: 'export',
      does: 'write the live resources as a stack',
      flags: [
        flag('--out <folder>', 'the folder of the new stack', {
          isRequired: true,
          isWritten: true,
        }),
        repeatable('--organization <organization>', 'this alone: a name, an id, or NAME=ID'),
        repeatable(
          '--knowledge-base <name=id>',
          'a knowledge base: the platform does not list them',
        ),
        flag('--no-factor', 'write each resource in full, without shared bases'),
        flag(
          '--unchecked',
          'own fields that no schema knows, but for those that change by themselves',
        ),
        flag('--secrets-file <file>', 'write secret values that the platform returns to a file', {
          isWritten: true,
        }),
        flag('--no-state', 'write no state'),
        permit(
          '--overwrite',
          'write into a folder that is not empty, over files of the same names',
        ),
        format('text', 'json'),
      ],
      examples: [
        'callsheet export --out fleet',
        'callsheet export --out fleet --organization harbor',
        'callsheet export --out fleet --knowledge-base faq=0d0e7c52-6d0a-4a53-9a4e-0a1f5a6f2b11',
      ],
      exits: ['done', 'error', 'refused', 'interrupted'],
      prints: ['callsheet-export'],
      load: async () => (await import('./export/command.ts')).exportCommand,
    },
    {
      name: 'import',
      does: 'bind addresses of the configuration to live resources',
      args: [
        { name: '[address]', does: 'an address of the configuration' },
        { name: '[id]', does: 'the id of the live resource' },
      ],
      flags: [
        flag('--all', 'bind every resource with a clear match by name; list the others'),
        format('text', 'json'),
      ],
      examples: [
        'callsheet import agent.reception 7d0c6f1e-54a3-4b0e-9b1c-2f6d8e9a0b11',
        'callsheet import --all',
      ],
      exits: ['done', 'error', 'partial', 'refused', 'stale', 'locked', 'interrupted'],
      prints: ['callsheet-import'],
      load: async () => (await import('./import.ts')).importCommand,
    },
    {
      name: 'fmt',
      does: 'bring the YAML of the stack into its order and style',
      args: [{ name: '[files...]', does: 'only these files; - for standard input' }],
      flags: [flag('--check', 'change nothing; list the files to format and exit 1')],
      examples: ['callsheet fmt', 'callsheet fmt --check'],
      exits: OFFLINE,
      load: async () => (await import('./edit/fmt.ts')).fmt,
    },
    {
      name: 'pull',
      does: 'write live values into the configuration',
      args: [
        {
          name: '[addresses...]',
          does: 'only these: an address, a kind, or agent.harbor_* for all that begin so',
        },
      ],
      flags: [
        flag('--new', 'write a file for each live resource that the stack does not have'),
        flag('--dry-run', 'write nothing; show the changes as a diff'),
        flag('--merge', 'where both sides changed a text, write the edits of both'),
        permit('--theirs', 'take the live value even where the configuration changed'),
        flag('--override', 'write values shared with other resources on the resource itself'),
        flag('--change-shared', 'change shared values at their source, also for other resources'),
        permit('--skip-refused', 'leave out values that cannot be pulled; write the rest'),
        permit('--allow-dirty', 'write even with uncommitted changes'),
        CONCURRENCY,
        format('text', 'json'),
      ],
      examples: [
        'callsheet pull --dry-run',
        'callsheet pull agent.reception',
        'callsheet pull agent.reception --merge',
        'callsheet pull --skip-refused --theirs',
        'callsheet pull --new agent --dry-run',
      ],
      exits: ['done', 'error', 'refused', 'stale', 'interrupted'],
      prints: ['callsheet-pull'],
      load: async () => (await import('./pull/command.ts')).pull,
    },
    {
      name: 'schema',
      does: 'print the JSON Schema that editors use',
      flags: [flag('--out <file>', 'write it to a file', { isWritten: true })],
      examples: ['callsheet schema --out callsheet.schema.json'],
      exits: OFFLINE,
      load: async () => (await import('./init/files.ts')).schema,
    },
  ],
  accept: async () => (await import('./pull/command.ts')).pull,
  markDrift: async () => (await import('./pull/index.ts')).withPullFlags,
};
