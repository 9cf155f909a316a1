/* cli_manual.c - `kiln help man` and `kiln help completion SHELL`: written from the tables of commands,
 * options and formats. */
#include "cli.h"
#include <string.h>

/* ---- the manual page ---- */

/* A text as troff takes it: a line of its own where it begins with what troff would read. */
static void put_roff(const char *text)
{
    for (const char *at = text; *at; at++) {
        bool begins = at == text || at[-1] == '\n';
        if (begins && (*at == '.' || *at == '\''))
            fputs("\\&", stdout);
        if (*at == '\\' || *at == '-')
            fputs(*at == '-' ? "\\-" : "\\e", stdout);
        else
            putchar(*at);
    }
}

static void put_command(const cli_command *command)
{
    cli_option_info o;
    fputs(".SS \"kiln ", stdout);
    put_roff(command->name);
    fputs("\"\n.PP\n.B kiln ", stdout);
    put_roff(command->name);
    fputs("\n", stdout);
    put_roff(command->usage);
    fputs("\n.PP\n", stdout);
    put_roff(command->summary);
    fputs(".\n", stdout);
    if (*command->details) {
        fputs(".PP\n.nf\n", stdout);
        put_roff(command->details);
        fputs(".fi\n", stdout);
    }
    for (int n = 0; cli_option_at(&o, command, n); n++) {
        fputs(".TP\n.B ", stdout);
        put_roff(o.name);
        if (o.value) {
            putchar(' ');
            put_roff(o.value);
        }
        putchar('\n');
        put_roff(o.help);
        putchar('\n');
    }
}

static void put_variables(void)
{
    kiln_variable v = KILN_VARIABLE_INIT;
    fputs(".SH ENVIRONMENT\n", stdout);
    for (int k = 0; k < kiln_variable_count() && kiln_variable_at(&v, k) == KILN_OK; k++) {
        fputs(".TP\n.BR ", stdout);
        put_roff(v.name);
        fputs(" \" (", stdout);
        put_roff(v.values);
        fputs(")\"\n", stdout);
        put_roff(v.meaning);
        if (v.otherwise) {
            fputs(". Not set: ", stdout);
            put_roff(v.otherwise);
        }
        fputs(".\n", stdout);
    }
}

static void print_page(void)
{
    printf(
        ".TH KILN 1 \"\" \"kiln %s\" \"User Commands\"\n.SH NAME\nkiln \\- fast kernels from C strings, on "
        "CUDA "
        "devices and on the host\n.SH SYNOPSIS\n.B kiln\n.I COMMAND\n[\\fIARGUMENT\\fR...]\n.SH COMMANDS\n",
        kiln_version());
    for (int c = 0; c < cli_command_count; c++)
        put_command(&cli_commands[c]);
    fputs(".SH FILES\n.PP\n.nf\n", stdout);
    cli_formats_help(stdout);
    fputs(
        ".fi\n.PP\nA file that is called \\- is standard input, and as what \\-o is given standard output.\n",
        stdout);
    put_variables();
    fputs(
        ".SH EXIT STATUS\n0 success, 1 failed, 2 wrong usage.\n.SH SEE ALSO\n.B kiln help language\n"
        "prints the manual of what kernels are written in, and\n.B kiln help files\nwhat files are read and "
        "written.\n",
        stdout);
}

/* Words in lines of at most so many characters, behind an indent. */
static void put_wrapped(const char *text, const char *indent)
{
    enum { WIDTH = 100 };
    for (size_t column = 0; *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        bool is_first = column == 0 || column + 1 + length > WIDTH;
        printf("%s%s%.*s", is_first && column ? "\n" : "", is_first ? indent : " ", (int)length, text);
        column = length + (is_first ? strlen(indent) : column + 1);
        text += length;
    }
    putchar('\n');
}

void cli_environment_print(void)
{
    kiln_variable v = KILN_VARIABLE_INIT;
    for (int k = 0; k < kiln_variable_count() && kiln_variable_at(&v, k) == KILN_OK; k++) {
        printf("  %s: %s\n", v.name, v.values);
        put_wrapped(v.meaning, "      ");
        if (v.otherwise)
            printf("      (not set: %s)\n", v.otherwise);
    }
}

/* ---- completion ---- */

/* The words that may complete a word. */
typedef struct choice {
    enum {
        GUESS_NOTHING,
        GUESS_WORDS,
        GUESS_FILES,
        GUESS_NAMED_FILES /* NAME=FILE, too */,
        GUESS_NAMED_WORDS /* behind T= */
    } kind;
    char words[4096]; /* with a blank behind each */
} choice;

static void add_word(choice *c, const char *word, size_t length)
{
    size_t used = strlen(c->words);
    c->kind = GUESS_WORDS;
    if (used + length + 2 < sizeof c->words)
        snprintf(c->words + used, sizeof c->words - used, "%.*s ", (int)length, word);
}

static void add_dtypes(choice *c)
{
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d); d++)
        add_word(c, kiln_dtype_name((kiln_dtype)d), strlen(kiln_dtype_name((kiln_dtype)d)));
}

/* An operation may have several definitions, which stand together or far apart. */
static void add_operations(choice *c)
{
    char word[64];
    for (int k = 0; k < kiln_operation_count(); k++) {
        kiln_operation o = KILN_OPERATION_INIT;
        if (kiln_operation_at(&o, k) != KILN_OK)
            return;
        snprintf(word, sizeof word, " %s ", o.name);
        const char *at = strstr(c->words, word + 1);
        if (!at || (at > c->words && !strstr(c->words, word)))
            add_word(c, o.name, strlen(o.name));
    }
}

/* "sm_90 x86-64-v3 ": those that begin so. */
static void add_architectures(choice *c, const char *beginning)
{
    char name[32];
    for (int k = 0; kiln_architecture_at(name, sizeof name, k); k++)
        if (strncmp(name, beginning, strlen(beginning)) == 0)
            add_word(c, name, strlen(name));
}

static void add_targets(choice *c, bool is_host, bool is_baked)
{
    if (!is_host)
        add_architectures(c, "sm_");
    if (is_host || !is_baked) {
        add_architectures(c, "x86");
        add_architectures(c, "arm");
    }
    if (is_baked)
        add_word(c, is_host ? "host" : "ptx", is_host ? 4 : 3);
}

/* "yes|no|auto" */
static void add_choices(choice *c, const char *value)
{
    for (; *value; value += strcspn(value, "|"), value += *value == '|')
        add_word(c, value, strcspn(value, "|"));
}

/* The values of an option. */
static choice guess_value(const cli_option_info *o)
{
    static const struct {
        const char *value;
        int kind;
        const char *words;
    } known[] = {{"TARGET", GUESS_WORDS, "host cuda "},
                 {"FILE", GUESS_FILES, ""},
                 {"[NAME=]FILE", GUESS_NAMED_FILES, ""},
                 {"FOLDER", GUESS_FILES, ""},
                 {"BUNDLE", GUESS_FILES, ""}};
    choice c = {GUESS_NOTHING, ""};
    if (strcmp(o->value, "FORMAT") == 0)
        add_word(&c, cli_formats_names(), strlen(cli_formats_names()));
    else if (strcmp(o->value, "DTYPE") == 0 || strcmp(o->value, "TYPE") == 0 ||
             strcmp(o->value, "T=DTYPE") == 0)
        add_dtypes(&c);
    else if (strncmp(o->value, "ARCH", 4) == 0)
        add_targets(&c, strcmp(o->name, "--host") == 0, o->value[4] != 0);
    else if (strcmp(o->name, "--row") == 0)
        cli_program_read(c.words, sizeof c.words, "bench", "words");
    else if (strchr(o->value, '|'))
        add_choices(&c, o->value);
    if (c.words[0])
        c.kind = strcmp(o->value, "T=DTYPE") == 0 ? GUESS_NAMED_WORDS : GUESS_WORDS;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(o->value, known[k].value) == 0) {
            c.kind = known[k].kind;
            snprintf(c.words, sizeof c.words, "%s", known[k].words);
        }
    return c;
}

/* The first words of a command: operations, or actions if its usage begins with words between bars
 * ("path|stats"). */
static choice guess_first(const cli_command *command)
{
    choice c = {GUESS_NOTHING, ""};
    if (command->bit == CLI_OPERATIONS)
        add_operations(&c);
    else if (memchr(command->usage, '|', strcspn(command->usage, " ")))
        for (const char *at = command->usage; *at; at += strcspn(at, "|"), at += *at == '|')
            add_word(&c, at, strcspn(at, " |"));
    return c;
}

/* ... and the others: files, where it takes any. */
static choice guess_others(const cli_command *command)
{
    choice c = {GUESS_FILES, ""};
    if (command->max_positional == 0 || command->bit & (CLI_OPERATIONS | CLI_BENCH))
        c.kind = GUESS_NOTHING;
    else if (strstr(command->usage, "NAME="))
        c.kind = GUESS_NAMED_FILES;
    return c;
}

/* One that has a blank in its name is found by the first word. */
static bool is_word(const cli_command *command)
{
    return !strchr(command->name, ' ');
}

static void put_command_names(void)
{
    for (int c = 0; c < cli_command_count; c++)
        if (is_word(&cli_commands[c]))
            printf("%s ", cli_commands[c].name);
}

#define TOPICS "language files environment man completion " /* of `kiln help` */
#define SHELLS "bash zsh fish "
#define HELP_SUMMARY "say more about a command, the language or files"

/* Empty words and files=1: readline's own completion. */
static void put_bash_choice(const choice *c)
{
    if (c->kind == GUESS_WORDS)
        printf("words=\"%s\"", c->words);
    else if (c->kind == GUESS_NAMED_WORDS)
        printf("if [[ -n $name ]]; then words=\"%s\"; else words=T=; compopt -o nospace 2>/dev/null; fi",
               c->words);
    else
        fputs(c->kind == GUESS_NOTHING ? ":" : "files=1", stdout);
}

static void print_bash(void)
{
    cli_option_info o;
    fputs(
        "# kiln's commands, options and files; written by kiln help completion bash.\n_kiln()\n{\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= files= name=\n"
        "    # What stands behind NAME= is a word of its own.\n"
        "    if [[ $current == = ]]; then\n"
        "        current= name=$before before=${COMP_WORDS[COMP_CWORD-2]}\n"
        "    elif [[ $before == = ]]; then\n"
        "        name=${COMP_WORDS[COMP_CWORD-2]} before=${COMP_WORDS[COMP_CWORD-3]}\n"
        "    fi\n"
        "    COMPREPLY=()\n    case $COMP_CWORD-${COMP_WORDS[1]} in\n    1-*) words=\"help --help --version ",
        stdout);
    put_command_names();
    fputs("\" ;;\n    2-help) words=\"" TOPICS, stdout);
    put_command_names();
    fputs("\" ;;\n    3-help) [[ $before == completion ]] && words=\"" SHELLS "\" ;;\n", stdout);
    for (int c = 0; c < cli_command_count; c++) {
        if (!is_word(&cli_commands[c]))
            continue;
        choice first = guess_first(&cli_commands[c]), others = guess_others(&cli_commands[c]);
        printf("    *-%s)\n        case $before in\n", cli_commands[c].name);
        for (int n = 0; cli_option_at(&o, &cli_commands[c], n); n++) {
            if (!o.value)
                continue;
            choice value = guess_value(&o);
            printf("        %s) ", o.name);
            put_bash_choice(&value);
            fputs(" ;;\n", stdout);
        }
        fputs("        *) if [[ $current == -* ]]; then words=\"", stdout);
        for (int n = 0; cli_option_at(&o, &cli_commands[c], n); n++)
            printf("%s ", o.name);
        fputs("\"; ", stdout);
        if (first.kind == GUESS_WORDS) {
            fputs("elif ((COMP_CWORD == 2)); then ", stdout);
            put_bash_choice(&first);
            fputs("; ", stdout);
        }
        fputs("else ", stdout);
        put_bash_choice(&others);
        fputs("; fi ;;\n        esac ;;\n", stdout);
    }
    fputs("    esac\n    [[ -n $files ]] || compopt +o default 2>/dev/null\n"
          "    [[ -z $words ]] || COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
          "complete -o default -F _kiln kiln\n",
          stdout);
}

/* Within '...' of zsh and fish; those of `escaped`, which mean something to zsh there, behind a backslash. */
static void put_quoted(const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (strchr(escaped, *text))
            putchar('\\');
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, stdout);
    }
}

/* An action of _arguments, within '...'. */
static void put_zsh_choice(const choice *c)
{
    if (c->kind == GUESS_WORDS)
        printf(":(%s)", c->words);
    else if (c->kind == GUESS_NAMED_WORDS)
        printf(":{if compset -P \"*=\"; then compadd -- %s; else compadd -S \"\" -- T=; fi}", c->words);
    else
        fputs(c->kind == GUESS_NOTHING ? ": "
              : c->kind == GUESS_FILES ? ":_files"
                                       : ":{compset -P \"*=\"; _files}",
              stdout);
}

static void print_zsh(void)
{
    cli_option_info o;
    fputs("#compdef kiln\n# kiln's commands, options and files; written by kiln help completion zsh.\n"
          "local -a commands\ncommands=(\n",
          stdout);
    for (int c = 0; c < cli_command_count; c++) {
        if (!is_word(&cli_commands[c]))
            continue;
        printf("    '%s:", cli_commands[c].name);
        put_quoted(cli_commands[c].summary, "");
        fputs("'\n", stdout);
    }
    fputs("    'help:" HELP_SUMMARY
          "'\n    '--help:print what there is'\n    '--version:print the version'\n)\n"
          "if ((CURRENT == 2)); then\n    _describe command commands\n    return\nfi\ncase $words[2] in\n"
          "help) if ((CURRENT == 3)); then compadd -- " TOPICS,
          stdout);
    put_command_names();
    fputs("; elif [[ $words[3] == completion ]] && ((CURRENT == 4)); then compadd -- " SHELLS "; fi ;;\n",
          stdout);
    for (int c = 0; c < cli_command_count; c++) {
        if (!is_word(&cli_commands[c]))
            continue;
        choice first = guess_first(&cli_commands[c]), others = guess_others(&cli_commands[c]);
        printf("%s) _arguments", cli_commands[c].name);
        for (int n = 0; cli_option_at(&o, &cli_commands[c], n); n++) {
            printf(" \\\n    '*%s[", o.name);
            put_quoted(o.help, "[]");
            putchar(']');
            if (o.value) {
                choice value = guess_value(&o);
                putchar(':');
                put_quoted(o.value, ":");
                put_zsh_choice(&value);
            }
            putchar('\'');
        }
        if (first.kind == GUESS_WORDS) {
            fputs(" \\\n    '2:word", stdout);
            put_zsh_choice(&first);
            putchar('\'');
        }
        fputs(" \\\n    '*:file", stdout);
        put_zsh_choice(&others);
        fputs("' ;;\n", stdout);
    }
    fputs("esac\n", stdout);
}

/* Writes the arguments of `complete` for a word. */
static void put_fish_choice(const choice *c)
{
    if (c->kind == GUESS_WORDS)
        printf(" -f -a '%s'", c->words);
    else if (c->kind == GUESS_NAMED_WORDS)
        printf(" -f -a '(printf T=%%s\\n %s)'", c->words);
    else
        fputs(c->kind == GUESS_NOTHING ? " -f" : " -F", stdout);
}

static void print_fish(void)
{
    cli_option_info o;
    fputs(
        "# kiln's commands, options and files; written by kiln help completion fish.\n"
        "# Whether the words begin with these; whether so many stand in front of the one that is completed.\n"
        "function __kiln_begins\n    set -l words (commandline -opc)\n    set -e words[1]\n"
        "    string match -q -- \"$argv *\" \"$words \"\nend\nfunction __kiln_behind\n    test (count "
        "(commandline -opc)) -eq $argv[1]\nend\n",
        stdout);
    fputs("complete -c kiln -n '__kiln_behind 1' -f -a help -d '" HELP_SUMMARY "'\n"
          "complete -c kiln -n '__kiln_behind 1' -l help -d 'print what there is'\n"
          "complete -c kiln -n '__kiln_behind 1' -l version -d 'print the version'\n"
          "complete -c kiln -n '__kiln_begins help' -f\n"
          "complete -c kiln -n '__kiln_begins help; and __kiln_behind 2' -f -a '" TOPICS,
          stdout);
    put_command_names();
    fputs("'\ncomplete -c kiln -n '__kiln_begins help completion; and __kiln_behind 3' -f -a '" SHELLS "'\n",
          stdout);
    for (int c = 0; c < cli_command_count; c++) {
        const cli_command *command = &cli_commands[c];
        if (!is_word(command))
            continue;
        choice first = guess_first(command), others = guess_others(command);
        printf("complete -c kiln -n '__kiln_behind 1' -f -a %s -d '", command->name);
        put_quoted(command->summary, "");
        fputs("'\n", stdout);
        for (int n = 0; cli_option_at(&o, command, n); n++) {
            printf("complete -c kiln -n '__kiln_begins %s' %s %s", command->name,
                   o.name[1] == '-' ? "-l" : "-s", o.name + (o.name[1] == '-' ? 2 : 1));
            if (o.value) {
                choice value = guess_value(&o);
                fputs(" -r", stdout);
                put_fish_choice(&value);
            }
            fputs(" -d '", stdout);
            put_quoted(o.help, "");
            fputs("'\n", stdout);
        }
        if (first.kind == GUESS_WORDS) {
            printf("complete -c kiln -n '__kiln_begins %s; and __kiln_behind 2'", command->name);
            put_fish_choice(&first);
            putchar('\n');
        }
        printf("complete -c kiln -n '__kiln_begins %s%s'", command->name,
               first.kind == GUESS_WORDS ? "; and not __kiln_behind 2" : "");
        put_fish_choice(&others);
        putchar('\n');
    }
}

/* ---- both ---- */

static const struct shell {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

int cli_manual_print(void)
{
    print_page();
    return CLI_OK;
}

int cli_completion_print(const char *shell)
{
    for (size_t k = 0; k < sizeof shells / sizeof *shells; k++)
        if (shell && strcmp(shells[k].name, shell) == 0) {
            shells[k].print();
            return CLI_OK;
        }
    return cli_usage_error(NULL, "help completion takes bash, zsh or fish, not '%s'", shell ? shell : "");
}
