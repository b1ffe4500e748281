import type { SettingsField } from './settings-field.ts';

const address = (description: string, example: string): SettingsField => ({
  type: 'string',
  'x-local': true,
  description,
  examples: [example],
});

const http: SettingsField = {
  type: 'object',
  additionalProperties: false,
  description:
    'A server that speaks the protocol of Terraform’s `http` backend, such as GitLab. The password comes from `CALLSHEET_STATE_PASSWORD`, and goes only to hosts that the environment names (`CALLSHEET_ALLOW_HOSTS`).',
  examples: [{ address: 'https://gitlab.example.test/api/v4/projects/7/terraform/state/desk' }],
  properties: {
    address: address(
      'Where the state is read and written.',
      'https://gitlab.example.test/api/v4/projects/7/terraform/state/desk',
    ),
    lock_address: address(
      'Where it is locked. Absent: the address; of a GitLab address, `/lock` below it.',
      'https://state.example.test/desk/lock',
    ),
    unlock_address: address(
      'Where it is unlocked. Absent: where it is locked.',
      'https://state.example.test/desk/unlock',
    ),
    lock_method: address('Method that locks: `LOCK`, or `POST` for a GitLab address.', 'POST'),
    unlock_method: address(
      'Method that unlocks: `UNLOCK`, or `DELETE` for a GitLab address.',
      'DELETE',
    ),
    update_method: address('Method that writes: `POST`.', 'PUT'),
    username: address('The user, unless `CALLSHEET_STATE_USERNAME` says it.', 'gitlab-ci-token'),
  },
};

const postgres: SettingsField = {
  type: 'object',
  additionalProperties: false,
  description:
    'A PostgreSQL database. It keeps many states. The password comes from `CALLSHEET_STATE_PASSWORD` or `PGPASSWORD`, and goes only to hosts that the environment names (`CALLSHEET_ALLOW_HOSTS`).',
  examples: [{ url: 'postgres://callsheet@db.example.test/callsheet', stack: 'production' }],
  properties: {
    url: address(
      'Address of the database, without a password. `?sslmode=` takes `verify-full` (the default), `verify-ca`, `require` and `disable`.',
      'postgres://callsheet@db.example.test/callsheet',
    ),
    stack: address('Name of the state in the database.', 'production'),
  },
};

const s3: SettingsField = {
  type: 'object',
  additionalProperties: false,
  description:
    'A bucket of Amazon S3 or of a compatible service with conditional writes. Credentials come from where other AWS tools find them: `AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, a web identity, or the role of a container or an instance.',
  examples: [{ bucket: 'voice-states', key: 'production/state.json', region: 'eu-central-1' }],
  properties: {
    bucket: address('Name of the bucket.', 'voice-states'),
    key: address('Name of the object; others lie below it.', 'production/state.json'),
    region: address(
      'Its region; without it that of `AWS_REGION` or of the AWS profile.',
      'eu-central-1',
    ),
    endpoint: address(
      'Address of a service that is not Amazon’s. The environment must name its host, too (`CALLSHEET_ALLOW_HOSTS`).',
      'https://s3.example.test',
    ),
  },
};

export const stateSchema: SettingsField = {
  type: 'object',
  additionalProperties: false,
  description: 'Where the state is kept: one of these.',
  examples: [{ file: '.callsheet/state.json' }],
  properties: {
    file: {
      type: 'string',
      'x-local': true,
      description:
        'Path of the state file, in the stack folder. `CALLSHEET_STATE` names one that is elsewhere.',
      default: '.callsheet/state.json',
      examples: ['.callsheet/state.json'],
    },
    http,
    postgres,
    s3,
  },
};
