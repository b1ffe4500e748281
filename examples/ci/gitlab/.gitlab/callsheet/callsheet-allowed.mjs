// Runs Callsheet with the flags for the guards that a plan may pass: by variables of a pipeline that is run by hand, or by
// labels of the merge request that it plans.
//   node callsheet-allowed.mjs plan FLAGS…
import { spawnSync } from 'node:child_process';
import { GUARDS } from './guards.mjs';

const { CI_MERGE_REQUEST_LABELS: list = '', CI_MERGE_REQUEST_IID: request } = process.env;
const { CI_MERGE_REQUEST_TITLE: title = '', GITLAB_USER_LOGIN: user = '' } = process.env;
const labels = request ? list.split(',') : [];
const allowed = GUARDS.flatMap((guard) => {
  const given = (process.env[guard.variable] ?? '').trim();
  if (guard.takesReason ? given !== '' : given === 'true') return [{ guard, by: user, given }];
  const reason = `${title} (!${request})`;
  return labels.includes(guard.label)
    ? [{ guard, by: `a label of !${request}`, given: reason }]
    : [];
});
const flags = allowed.map(({ guard: { flag, takesReason }, given }) =>
  takesReason ? `${flag}=${given.replace(/\s+/g, ' ')}` : flag,
);
const { status } = spawnSync('callsheet', [...process.argv.slice(2), ...flags], {
  stdio: 'inherit',
  env: {
    ...process.env,
    CALLSHEET_ALLOWED_BY: allowed.map(({ guard, by }) => `${guard.name}=${by}`).join(','),
  },
});
process.exitCode = status ?? 130;
