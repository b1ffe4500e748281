import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { staged } from '../apply/stage.ts';
import { agentNamed, CANARIES, COMMIT, FINGERPRINT_KEY } from '../e2e/clinic.ts';
import { runHere } from '../e2e/in-process.ts';
import { typedCommands } from '../typed-commands.ts';

/** No command, host, address, id or number is broken over lines on a narrow terminal, in any output. */

/** How each command is run; `DESK` stands for the id of the front desk, `RUN` for that of a run. */
const TYPED: { readonly [command: string]: readonly string[] } = {
  validate: [''],
  fmt: ['--check'],
  explain: ['agent.greeting_message', 'agent.desk', 'agent.desk.system_prompt'],
  'explain graph': [''],
  'explain assumptions': ['', 'history.entries', '--verbose'],
  plan: ['', '--verbose', '--undo-drift', '--out plan.json'],
  show: ['plan.json'],
  apply: ['--auto-approve', 'plan.json'],
  rollback: ['--dry-run', 'RUN --dry-run'],
  rehearse: ['--verbose'],
  drift: ['', '--verbose'],
  pull: ['--dry-run'],
  log: ['', 'agent.desk', '--verbose'],
  runs: ['', 'RUN', 'RUN --verbose'],
  'state list': [''],
  'state show': ['agent.desk'],
  'snapshot create': ['--out here.snapshot'],
  'snapshot list': [''],
  'snapshot show': ['here.snapshot'],
  restore: ['here.snapshot --dry-run'],
  get: ['agents', 'agent.desk', 'retry_policies', 'knowledge_sources'],
  'get organizations': [''],
  'get calls': ['agent.desk'],
  'get usage': [''],
  'get features': [''],
  'get models': [''],
  'get stt_providers': [''],
  'get payments': ['agent.desk'],
  history: ['agent.desk'],
  metrics: [''],
  'state unlock': ['lease-1'],
  import: ['agent.other DESK'],
  'state rm': ['agent.other'],
};

/** They print a program or a document, serve, or wait for somebody. */
const LEFT_OUT = new Set([
  ...['init', 'schema', 'completion', 'watch', 'ui', 'simulate', 'session', 'export'],
  ...['rollout start', 'rollout run', 'rollout show', 'rollout promote', 'rollout abort'],
  ...['queue add', 'queue work', 'queue show', 'snapshot diff'],
  ...['state pull', 'state mv', 'state trust', 'state adopt', 'state push', 'state migrate'],
  'state repair',
]);

test('every command is looked at, or left out by name', () => {
  const known = new Set([...Object.keys(TYPED), ...LEFT_OUT]);
  expect(COMMANDS.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});

/** Things that somebody copies: addresses, URLs and hosts, ids, digests and numbers. */
const UNIT =
  /https?:\/\/[^\s"'`)>,;]+|[a-z_]+\.[a-z_]+(?:\["[^"]*"\])?|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b\d{8}t\d{6}z-[0-9a-f]+\b|sha256:[0-9a-f]{64}|\b(?:[a-z0-9-]+\.)+(?:test|com|example)\b|\b\d[\d,.:]*\d\b/g;

/** Lists things that stand whole in a wide output, and in pieces alone in a narrow one. */
function broken(wide: string, narrow: string): readonly string[] {
  const lines = narrow.split('\n');
  const joined = lines.map((line) => line.trimStart()).join('');
  const units = new Set([...(wide.match(UNIT) ?? []), ...typedCommands(wide)]);
  return [...units].filter(
    (unit) => joined.includes(unit) && !lines.some((line) => line.includes(unit)),
  );
}

/** Runs a command as on a terminal of so many columns. */
async function onTerminal(width: number, run: () => Promise<string>): Promise<string> {
  const { stdout, stderr } = process;
  const before = [stdout, stderr].map(({ columns, isTTY }) => ({ columns, isTTY }));
  for (const stream of [stdout, stderr]) Object.assign(stream, { columns: width, isTTY: true });
  try {
    return await run();
  } finally {
    for (const [at, stream] of [stdout, stderr].entries()) Object.assign(stream, before[at]);
  }
}

staged(
  'nothing that is copied is broken at 60 columns, in the output of any command',
  async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day, how may I help you?');
    const { id } = agentNamed(stage.sim);
    stage.sim.edit(id, { system_prompt: 'Ask https://alerts.pagehost.example.test/v2/page, 30.' });
    const env = {
      ...{ PATH: process.env.PATH, HOME: stage.folder, TERM: 'dumb', CI_COMMIT_SHA: COMMIT },
      ...CANARIES,
      CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
      CALLSHEET_BASE_URL: stage.sim.url,
      CALLSHEET_CLIENT_ID: stage.sim.clientId,
      CALLSHEET_CLIENT_SECRET: stage.sim.clientSecret,
    };
    const printed = async (args: readonly string[], width: number) =>
      onTerminal(width, async () => {
        const { out, err } = await runHere(args, { cwd: stage.folder, env });
        return `${out}\n${err}`;
      });
    const listed = await printed(['runs', '--format', 'json'], 80);
    const run = JSON.parse(listed.slice(0, listed.lastIndexOf('}') + 1)).runs[0].run;
    const found: string[] = [];
    let seen = 0;
    for (const [command, given] of Object.entries(TYPED))
      for (const flags of given) {
        const words = `${command} ${flags}`.trim().replace('RUN', run).replace('DESK', id);
        const [wide, narrow] = [
          await printed(words.split(' '), 4000),
          await printed(words.split(' '), 60),
        ];
        seen += new Set(narrow.match(UNIT)).size;
        found.push(...broken(wide, narrow).map((unit) => `${words}: ${unit}`));
      }
    expect(found).toEqual([]);
    expect(seen).toBeGreaterThan(400);
  },
);
