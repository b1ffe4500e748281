/** Actions by commit: a tag can be moved to another one. */
const CHECKOUT = 'actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0';
const SETUP_NODE = 'actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0';
const CACHE = '0057852bfaa89a56745cba8c7296529d2fc39830 # v4.3.0';

/**
 * A workflow for GitHub Actions: every pull request is validated and planned, what is merged is applied.
 *
 * @param folder the stack's, from the top of the repository; empty at the top
 */
export function githubWorkflow(folder: string, version: string): string {
  const state = folder === '' ? '.callsheet' : `${folder}/.callsheet`;
  const paths = folder === '' ? '' : `\n    paths: ["${folder}/**"]`;
  const defaults = folder === '' ? '' : `\ndefaults:\n  run:\n    working-directory: ${folder}\n`;
  const group = folder === '' ? 'callsheet' : `callsheet-${folder.replace(/[^A-Za-z0-9]+/g, '-')}`;
  const prepare = `      - uses: ${CHECKOUT}
        with: { persist-credentials: false }
      - uses: ${SETUP_NODE}
        with: { node-version: 24 }
      - run: npm install --global callsheet@${version}`;
  const credentials = `        env:
          CALLSHEET_BASE_URL: \${{ vars.CALLSHEET_BASE_URL }}
          CALLSHEET_CLIENT_ID: \${{ secrets.CALLSHEET_CLIENT_ID }}
          CALLSHEET_CLIENT_SECRET: \${{ secrets.CALLSHEET_CLIENT_SECRET }}
          CALLSHEET_FINGERPRINT_KEY: \${{ secrets.CALLSHEET_FINGERPRINT_KEY }}`;
  const restore = `      # The state may be lost: the next plan then finds every resource again by its name.
      - uses: actions/cache/restore@${CACHE}
        with:
          path: ${state}
          key: ${group}-state-\${{ github.run_id }}-\${{ github.run_attempt }}
          restore-keys: ${group}-state-`;
  return `# Validates and plans every pull request, and applies what is merged. It is yours to change.
name: ${group}

on:
  pull_request:${paths}
  push:
    branches: [main]${paths}

permissions:
  contents: read
${defaults}
jobs:
  validate:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    steps:
${prepare}
      - run: callsheet fmt --check
      - run: callsheet validate --format github

  plan:
    needs: validate
    # Pull requests from forks get no secrets.
    if: >-
      github.event_name == 'pull_request' &&
      github.event.pull_request.head.repo.full_name == github.repository
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    environment: ${group}-plan
    steps:
${prepare}
${restore}
      - run: callsheet plan --format markdown >> "$GITHUB_STEP_SUMMARY"
${credentials}

  apply:
    needs: validate
    if: github.event_name == 'push'
    runs-on: ubuntu-24.04
    timeout-minutes: 60
    # An environment can ask for an approval, and keeps the secrets to this job.
    environment: ${group}
    concurrency:
      group: ${group}
      cancel-in-progress: false
    steps:
${prepare}
${restore}
      - name: plan and apply
        run: |
          callsheet plan --out "$RUNNER_TEMP/callsheet-plan.json"
          callsheet apply "$RUNNER_TEMP/callsheet-plan.json"
${credentials}
          # Add what the stack reads with { $secret: env:NAME }; the plan of a pull request needs none of it.
      - uses: actions/cache/save@${CACHE}
        if: always()
        with:
          path: ${state}
          key: ${group}-state-\${{ github.run_id }}-\${{ github.run_attempt }}
`;
}

/** The same for GitLab CI. Credentials are variables of the project: masked, and protected for apply. */
export function gitlabPipeline(folder: string, version: string): string {
  const enter = folder === '' ? '' : `\n    - cd "${folder}"`;
  const state = folder === '' ? '.callsheet/' : `${folder}/.callsheet/`;
  const report = folder === '' ? 'callsheet.xml' : `${folder}/callsheet.xml`;
  const included =
    folder === ''
      ? ''
      : `# The pipeline of the repository includes it:  include: { local: ${folder}/.gitlab-ci.yml }\n`;
  return `# Validates and plans every merge request, and applies what is merged. It is yours to change.
${included}# Variables of the project: CALLSHEET_BASE_URL, CALLSHEET_CLIENT_ID, CALLSHEET_CLIENT_SECRET (masked),
# CALLSHEET_FINGERPRINT_KEY (masked), and for apply what the stack reads with { $secret: env:NAME }.

.callsheet:
  image: node:24-slim
  before_script:
    - npm install --global callsheet@${version}${enter}
  # The state may be lost: the next plan then finds every resource again by its name.
  cache:
    key: callsheet-state
    paths: [${state}]
    policy: pull

callsheet-validate:
  extends: .callsheet
  stage: test
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - callsheet fmt --check
    - callsheet validate --format junit > callsheet.xml
  artifacts:
    when: always
    reports:
      junit: ${report}

callsheet-plan:
  extends: .callsheet
  stage: test
  needs: [callsheet-validate]
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID
  script:
    - callsheet plan

callsheet-apply:
  extends: .callsheet
  stage: deploy
  needs: [callsheet-validate]
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  environment: production
  resource_group: callsheet
  cache:
    policy: pull-push
    when: always
  script:
    - callsheet plan --out /tmp/callsheet-plan.json
    - callsheet apply /tmp/callsheet-plan.json
`;
}
