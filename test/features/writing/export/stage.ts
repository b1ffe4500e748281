import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Context } from '../../../../src/console/context.ts';
import { reportFailure } from '../../../../src/console/events.ts';
import { plan } from '../../../../src/console/plan.ts';
import type { ExportDocument, ImportDocument } from '../../../../src/core/documents.ts';
import type { PlanDocument } from '../../../../src/core/plan-document.ts';
import { fmt } from '../../../../src/features/writing/edit/fmt.ts';
import {
  type ExportFlags,
  exportCommand,
} from '../../../../src/features/writing/export/command.ts';
import { type ImportFlags, importCommand } from '../../../../src/features/writing/import.ts';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../../../src/simulator/index.ts';
import { quietContext } from '../../../cli/quiet-context.ts';
import { temporaryFolder } from '../../../temporary.ts';

type Options = {
  readonly exit?: number;
  readonly env?: Context['env'];
  readonly stop?: AbortSignal;
};

/** A platform, a folder to export into, and the commands run in this process. */
export type ExportStage = {
  readonly sim: Simulator;
  /** An empty folder for whatever a test needs. */
  readonly folder: string;
  readonly run: (
    command: (context: Context) => Promise<number>,
    options?: Options,
  ) => Promise<{ readonly out: string; readonly err: string }>;
  /** Exports into `name` of the folder. */
  readonly export: (
    name: string,
    flags?: Partial<ExportFlags>,
    options?: Options,
  ) => Promise<ExportDocument & { readonly err: string }>;
  /** Plans, with every secret that the export asks for, and those that the platform knows as they are. */
  readonly plan: (name: string, secrets: Secrets, options?: Options) => Promise<PlanDocument>;
  readonly import: (
    name: string,
    words: readonly string[],
    flags?: Partial<ImportFlags>,
    options?: Options,
  ) => Promise<ImportDocument & { readonly err: string }>;
  readonly isFormatted: (name: string) => Promise<boolean>;
  /** Every file below a folder but the state, by its path. */
  readonly files: (name: string) => Promise<Map<string, string>>;
  readonly close: () => Promise<void>;
};

export type Secrets = Readonly<Record<string, string>>;

export async function openExportStage(options: SimulatorOptions): Promise<ExportStage> {
  const sim = await startSimulator(options);
  const folder = temporaryFolder();

  const run: ExportStage['run'] = async (command, { exit = 0, env = {}, stop } = {}) => {
    const { context, said } = quietContext();
    const own: Context = {
      ...context,
      env: {
        CALLSHEET_BASE_URL: sim.url,
        CALLSHEET_CLIENT_ID: sim.clientId,
        CALLSHEET_CLIENT_SECRET: sim.clientSecret,
        CALLSHEET_FINGERPRINT_KEY: 'a key that the team keeps',
        ...env,
      },
      now: () => new Date(),
      ...(stop === undefined ? {} : { stop }),
    };
    const ended = await command(own).catch((error: unknown) =>
      reportFailure(error, own.terminal, false),
    );
    expect(ended, `${said.err}${said.out}`).toBe(exit);
    return said;
  };
  const parsed = ({ out, err }: { readonly out: string; readonly err: string }) => ({
    ...(out === '' ? {} : JSON.parse(out)),
    err,
  });

  return {
    sim,
    folder,
    run,
    async export(name, flags = {}, options = {}) {
      const own = { dir: '.', out: join(folder, name), state: true, format: 'json' as const };
      return parsed(
        await run((context) => exportCommand({ ...own, ...flags }, { ...context }), options),
      );
    },
    async plan(name, secrets, options = {}) {
      const flags = { dir: join(folder, name), format: 'json' as const };
      const env = { ...secrets, ...options.env };
      return parsed(await run((context) => plan(flags, context), { ...options, env }));
    },
    async import(name, [address, id], flags = {}, options = {}) {
      const own = { dir: join(folder, name), format: 'json' as const, ...flags };
      return parsed(await run((context) => importCommand(address, id, own, context), options));
    },
    async isFormatted(name) {
      const { context } = quietContext();
      return (await fmt([], { dir: join(folder, name), check: true }, context)) === 0;
    },
    async files(name) {
      const dir = join(folder, name);
      const all = await readdir(dir, { recursive: true, withFileTypes: true });
      const paths = all
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
        .filter((path) => !path.startsWith('.callsheet/'));
      const texts = paths
        .sort()
        .map(async (path) => [path, await readFile(join(dir, path), 'utf8')] as const);
      return new Map(await Promise.all(texts));
    },
    async close() {
      await sim.close();
    },
  };
}

/** Values for every secret: those in `told` as they are, the others made up. */
export function secretsFor({ secrets }: ExportDocument, told: Secrets = {}): Secrets {
  return Object.fromEntries(secrets.map(({ name }) => [name, told[name] ?? 'made-up']));
}

/** What a file that `--secrets-file` wrote says. */
export async function readSecretsFile(path: string): Promise<Secrets> {
  const text = await readFile(path, 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)='((?:[^']|'\\'')*)'$/gm)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll("'\\''", "'"),
    ]),
  );
}

/**
 * Exports twice and plans with and without the state that was written: no change, and not one byte of
 * difference. Returns what the first export came to.
 */
/** The file beside the stack names each thing that is not in it, with the reason, and nothing else. */
async function expectReport(stage: ExportStage, document: ExportDocument): Promise<void> {
  const { remarks, unlisted, unasked = [], variables } = document;
  const text = (await stage.files('first')).get('EXPORT.md') ?? '';
  const sections = text.split('\n## ').slice(1);
  const lines = new Set(
    sections.flatMap((section) => {
      const [reason = '', ...rest] = section.split('\n');
      return rest.flatMap((line) => {
        const names = [...line.matchAll(/`([^`]*)`/g)].map(([, name]) => name);
        const hasPath = line.startsWith('- `') && line.includes('` of ');
        const [path, ...whose] = hasPath ? names : [null, ...names];
        return whose.flatMap((name = '') =>
          document.remarks
            .filter(({ address }) => address === name || address.startsWith(`${name}.`))
            .map(({ address }) => JSON.stringify([address, path, reason.toLowerCase()])),
        );
      });
    }),
  );
  const left = remarks.filter(({ reason }) => !reason.includes('is written under unchecked'));
  for (const { address, path, reason } of left)
    expect(lines).toContain(JSON.stringify([address, path, reason.toLowerCase()]));
  for (const { kind } of unlisted) expect(text).toContain(`every \`${kind}\``);
  for (const { id } of variables) expect(text).toContain(id);
  const skipped = unlisted.length + unasked.length;
  if (left.length + skipped + variables.length === 0) expect(text).toBe('');
  expect(text).not.toContain('is written under unchecked');
}

export async function expectFaithful(
  stage: ExportStage,
  flags: Partial<ExportFlags> = {},
  options: Options = {},
) {
  const secretsFile = join(stage.folder, 'secrets.env');
  const document = await stage.export('first', { ...flags, secretsFile }, options);
  const secrets = secretsFor(document, await readSecretsFile(secretsFile));
  await rm(secretsFile);

  const kept = await stage.plan('first', secrets, options);
  expect(kept.changes).toEqual([]);
  expect(kept.summary).toMatchObject({ adopt: 0 });
  await rm(join(stage.folder, 'first/.callsheet'), { recursive: true });
  const lost = await stage.plan('first', secrets, options);
  expect(lost.changes.filter(({ action }) => action !== 'adopt')).toEqual([]);

  await expectReport(stage, document);

  // In a folder of the same name, after which the stack is called.
  await mkdir(join(stage.folder, 'again'));
  await stage.export('again/first', flags, options);
  const [first, again] = [await stage.files('first'), await stage.files('again/first')];
  // Fields that change by themselves may be null at one time, and then nothing is left out.
  for (const files of [first, again]) files.delete('EXPORT.md');
  expect(again).toEqual(first);
  expect(await stage.isFormatted('first')).toBe(true);
  return { document, secrets, resources: kept.summary.no_op };
}
