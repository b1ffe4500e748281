/**
 * Checks `schemas/platform.openapi.yaml`: two independent validators, and the rules that the client, the
 * simulator and the ledger of assumptions rely on. Prints each problem with its place and exits with 1
 * where there is one. Needs no network.
 */
import { lintDocument } from './lint-openapi/lint.ts';

const problems = await lintDocument(new URL('../schemas/', import.meta.url));
for (const { file, line, column, message } of problems)
  console.error(`${file}:${line}:${column} ${message}`);
if (problems.length > 0) process.exitCode = 1;
