interface ReadmeOptions {
  readonly run: string;
  readonly login: boolean;
  readonly route?: string | undefined;
}

export function readme(name: string, { run, login, route }: ReadmeOptions): string {
  const user = login ? " -b cookies" : " -H 'authorization: secret'";
  const commands = [
    [`${run} test`, "runs a MongoDB; the first time, downloads one if there is none"],
    [login ? `${run} start` : `API_KEY=secret ${run} start`, "needs a MongoDB, see below"],
    [login ? `${run} dev` : `API_KEY=secret ${run} dev`, "starts again after each change"],
    ...login ? [[`${run} make-admin boss@acme.example`, "prints a link to sign up"]] : [],
    [`${run} check`, "checks the types"],
    [`${run} lint`, 'finds a hook that forgets "await"'],
  ];
  const files = [
    ["file", "what it is"],
    ...route === undefined
      ? [["`todo.ts`", "a model: what is stored, and what clients may do with it"]]
      : FROM_FILES,
    ["`app.ts`", "the application; it names its models"],
    ...login ? LOGIN_FILES : [],
    ["`main.ts`", "connects and listens, and stops without losing requests"],
    ["`app.test.ts`", "tests over HTTP, with a real MongoDB"],
  ];
  return `# ${name}

A REST API over MongoDB, made with [Mongrove](https://jsr.io/@mongrove/mongrove).

\`\`\`sh
${pad(commands).map(([command, note]) => `${command}  # ${note?.trimEnd()}`).join("\n")}
\`\`\`

The application uses the MongoDB at \`MONGODB_URI\`, or else at 127.0.0.1:27017. To run one, a replica
set of one member, which \`history\`, \`onDelete\` and live lists need:

\`\`\`sh
docker run -d --name mongo -p 127.0.0.1:27017:27017 mongo:6 --replSet rs0 && sleep 5
docker exec mongo mongosh --eval 'rs.initiate({_id:"rs0",members:[{_id:0,host:"127.0.0.1:27017"}]})'
\`\`\`

${login ? USERS : KEY.replace("todos", route === undefined ? "todos" : "entities")}
\`\`\`sh
${login ? SIGN_IN : ""}${
    route === undefined ? todoRequests(user) : `curl${user} '${ADDRESS}${route}?limit=10'`
  }
\`\`\`

${table(files)}

${route !== undefined ? "" : login ? LOGIN_OTHER_MODEL : OTHER_MODEL}${
    login ? LOGIN_ADVICE : route === undefined ? KEY_ADVICE : FROM_ADVICE
  }`;
}

const ADDRESS = "http://127.0.0.1:3000";

function todoRequests(user: string): string {
  return `curl${user} ${ADDRESS}/todos --json '{"title":"Write a model"}'
curl${user} -G ${ADDRESS}/todos --data-urlencode 'q={"done":false}' -d sort=title -d limit=10`;
}

const OTHER_MODEL =
  `In the place of \`Todo\` in \`todo.ts\`, write your own model. Change its names in \`app.ts\` (the
models), \`main.ts\` (the database) and \`app.test.ts\`.

`;

const LOGIN_OTHER_MODEL =
  `In the place of \`Todo\` in \`todo.ts\`, write your own model. Change its names in \`app.ts\` (the
models), \`pages.ts\` (a link), \`main.ts\` and \`make_admin.ts\` (the database), and \`app.test.ts\`.

`;

const FROM_FILES = [
  ["`models/`", "a model for each collection, made of a sample of its entities: correct them"],
  ["`models.ts`", "the list of the models"],
  ["`models.json`", "what the sample showed, for later comparisons; it has no values"],
] as const;

const FROM_ADVICE =
  `Whoever has the key may do everything. Fields whose names say so, such as \`password\`, are hidden.
Fields of any values (\`unknown\`) and Maps show all that they hold.

\`new --from\` in this folder shows what has changed in the database, and with \`--write\` writes it
into the files of models that nobody has changed. Neither writes to the database.
`;

const LOGIN_FILES = [
  ["`user.ts`", "the users, for administrators; `req.user`"],
  ["`invitation.ts`", "who may sign up, and into which organisation"],
  ["`login.ts`", "sessions and passwords, by better-auth"],
  ["`pages.ts`", "the pages for browsers, such as `/sign-in`; `page.ts` has their HTML"],
  ["`mail.ts`", "sends mails"],
  ["`make_admin.ts`", "makes the first administrator of an organisation"],
  ["`test_support.ts`", "starts the application for your tests, and signs users in"],
] as const;

const USERS =
  `Until \`SMTP_URL\` is set, **mails are in the output of the application**. To begin, sign up at the
link of \`make-admin\`, open the link in the mail, and sign in at http://127.0.0.1:3000. The first
page leads to \`/admin\`, where an administrator invites others into the organisation, and to \`/docs\`,
which shows the API. A shell signs in too:
`;

const KEY =
  `http://127.0.0.1:3000/docs shows the API and sends requests, and http://127.0.0.1:3000/admin shows
the todos. So does a shell:
`;

const SIGN_IN =
  `curl -c cookies http://127.0.0.1:3000/api/auth/sign-in/email --json '{"email":"boss@acme.example","password":"correct horse"}'
`;

const LOGIN_ADVICE = `Before you publish it, set

- \`APP_URL\`: the address that browsers use. Writes from pages of another one are refused.
- \`AUTH_SECRET\`: a random text (\`openssl rand -base64 32\`), in the place of \`.auth_secret\`
- \`SMTP_URL\`, such as \`smtps://user:password@smtp.example\`, and \`MAIL_FROM\`, the sender

Behind a proxy, set \`trust proxy\` of Express, or all users share one limit of sign-ins. An office
that shares an address needs more than 30 in 15 minutes: set \`LOGIN_LIMIT\`.
`;

const KEY_ADVICE =
  `Whoever has the key may do everything. With \`new --login\`, users sign in instead.
`;

function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...others] = pad(rows);
  const lines = [head, head.map((cell) => "-".repeat(cell.length)), ...others];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function pad(rows: readonly (readonly string[])[]): string[][] {
  const widthOf = (index: number) => Math.max(...rows.map((row) => row[index]?.length ?? 0));
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widthOf(index))));
}
