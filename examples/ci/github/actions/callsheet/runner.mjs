// What a step tells the runner, and how it runs Callsheet.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';

/** An output of the step. The delimiter is drawn, so that no value can end it and set another output. */
export function setOutput(name, value) {
  const end = `end-${randomUUID()}`;
  appendFileSync(process.env.GITHUB_OUTPUT, `${name}<<${end}\n${value}\n${end}\n`);
}

/** A page in the summary of the job. */
export function summarise(page) {
  appendFileSync(process.env.GITHUB_STEP_SUMMARY, `${page}\n`);
}

/** An annotation of the run: `error` or `warning`. */
export function annotate(level, title, text) {
  process.stdout.write(`::${level} title=${property(title)}::${data(text)}\n`);
}

/**
 * Runs Callsheet with its output in the log as it comes. Passes on what the runner says to this process, so that Callsheet
 * can end a run cleanly.
 */
export function runCallsheet(args, env = process.env) {
  const child = spawn('callsheet', args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.out += text;
    process.stdout.write(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.err += text;
    process.stderr.write(text);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...said, exit: code ?? 130 }));
  });
}

/** Runs a task while the runner reads no commands from the log: what is live on the platform was written by others. */
export async function withoutCommands(task) {
  const silence = randomUUID();
  process.stdout.write(`::stop-commands::${silence}\n`);
  const result = await task();
  process.stdout.write(`\n::${silence}::\n`);
  return result;
}

function data(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text) {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
