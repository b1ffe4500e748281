// What a step tells the runner.
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

function data(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text) {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
