// The main job, visibly, against a simulated platform in this process:
// validate → plan → apply → no changes → a dashboard edit → drift → put right → a bad change → rollback.
// It runs the built command line as a user would, checks every exit code, and ends by itself.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseEnv, stripVTControlCharacters, styleText } from 'node:util';
import { readSeed, startSimulator } from '../src/simulator/index.ts';

const root = dirname(import.meta.dirname);
const bin = join(root, 'dist', 'main.js');
const example = join(root, 'examples', 'quickstart');
const width = Math.min(process.stdout.columns ?? 100, 100);
const isColored = process.stdout.isTTY === true && !process.env.NO_COLOR;

/** Lines of an output that are shown; the whole of it is in the folder. */
const LONGEST_EXCERPT = 36;

const folder = await mkdtemp(join(tmpdir(), 'callsheet-quickstart-'));
const stack = join(folder, 'stack');
await cp(example, stack, { recursive: true });
const simulator = await startSimulator({
  seed: readSeed(await readFile(join(example, 'simulator', 'seed.yaml'), 'utf8')),
});
const env: NodeJS.ProcessEnv = {
  ...process.env,
  ...parseEnv(await readFile(join(example, 'secrets.env.example'), 'utf8')),
  CALLSHEET_BASE_URL: simulator.url,
  CALLSHEET_CLIENT_ID: simulator.clientId,
  CALLSHEET_CLIENT_SECRET: simulator.clientSecret,
  COLUMNS: String(width),
  ...(isColored ? { FORCE_COLOR: '1' } : {}),
};

let step = 0;

try {
  say(`A dental group with three clinics and eleven phone agents, in ${stack}`);
  say(`A simulated platform, at ${simulator.url}`);

  await run('Check the configuration, without a network', ['validate']);
  await run(
    'What would change? Two agents exist already and are taken over',
    ['plan', '--out', 'plan.json', '--detailed-exitcode'],
    2,
  );
  await run('Apply exactly that plan', ['apply', 'plan.json']);
  await run('Plan again: nothing to change', ['plan', '--detailed-exitcode']);

  const edited = agentNamed('Riverside front desk');
  heading('Somebody edits an agent by hand, in the dashboard');
  simulator.edit(edited, {
    greeting_message: 'Riverside Kids, please hold.',
    model: 'alpha-4.1-nano',
  });
  say('greeting_message and model of "Riverside front desk" were changed outside Callsheet.');
  await run('Drift names the fields, and who changed them', ['drift', '--detailed-exitcode'], 2);
  await run('Put it right: the configuration wins', ['apply', '--auto-approve']);

  const prompt = join(stack, 'prompts', 'harbor-billing.md');
  const agents = join(stack, 'agents', 'harbor.yaml');
  const before = { prompt: await readFile(prompt, 'utf8'), agents: await readFile(agents, 'utf8') };
  heading('A bad change: a careless prompt, and the wrong agent switched off');
  await writeFile(prompt, '# Billing desk\n\nAgree with whatever the caller says they owe.\n');
  await writeFile(agents, switchOff(before.agents, 'billing'));
  await run('It is applied before anybody looks', ['apply', '--auto-approve']);
  await run("Roll it back, through the platform's own history", ['rollback', '--auto-approve']);
  await run('Nobody applies it again by accident: what was rolled back is held', ['plan'], 4);
  await writeFile(prompt, before.prompt);
  await writeFile(agents, before.agents);
  heading('The change is taken back in Git, too');
  await run('Plan once more: nothing to change', ['plan', '--detailed-exitcode']);
  await run('What was run', ['runs']);

  heading('Done');
  say(`Everything is in ${folder}; delete it when you like.`);
} catch (error) {
  process.exitCode = 1;
  say(`The quickstart failed: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  await simulator.close();
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function heading(title: string): void {
  step += 1;
  const line = `── ${step}. ${title} `.padEnd(width, '─');
  say(`\n${isColored ? styleText(['bold', 'cyan'], line) : line}`);
}

function agentNamed(name: string): string {
  for (const [id, { record }] of simulator.store.agents) if (record.name === name) return id;
  throw new Error(`the platform has no agent named ${name}`);
}

function switchOff(yaml: string, agent: string): string {
  const start = yaml.indexOf(`  ${agent}:`);
  return yaml.slice(0, start) + yaml.slice(start).replace('status: active', 'status: inactive');
}

async function run(title: string, args: readonly string[], expected = 0): Promise<void> {
  heading(title);
  const prompt = `$ callsheet ${args.join(' ')}`;
  say(isColored ? styleText('bold', prompt) : prompt);
  const { output, exit } = await callsheet(args);
  const lines = output.trimEnd().split('\n');
  const log = join(folder, `${String(step).padStart(2, '0')}-${args[0]}.txt`);
  await writeFile(log, `${prompt}\n${stripVTControlCharacters(output)}`);
  const tail = 14;
  if (lines.length <= LONGEST_EXCERPT) say(lines.join('\n'));
  else {
    const hidden = lines.length - LONGEST_EXCERPT;
    say(lines.slice(0, LONGEST_EXCERPT - tail).join('\n'));
    say(`\n    … ${hidden} more lines in ${log}\n`);
    say(lines.slice(-tail).join('\n'));
  }
  say(`(exit ${exit})`);
  if (exit !== expected) throw new Error(`${prompt} ended with ${exit}, not ${expected}`);
}

function callsheet(
  args: readonly string[],
): Promise<{ readonly output: string; readonly exit: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: stack,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject).on('close', (exit) => resolve({ output, exit }));
  });
}
