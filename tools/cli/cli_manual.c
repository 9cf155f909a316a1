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
        ".fi\n.PP\nA file that is called \\- is standard input, and as what \\-o is given standard output.\n"
        ".SH EXIT STATUS\n0 success, 1 failed, 2 wrong usage.\n.SH SEE ALSO\n.B kiln help language\n"
        "prints the manual of what kernels are written in, and\n.B kiln help files\nwhat files are read and "
        "written.\n",
        stdout);
}

/* ---- completion ---- */

/* What an option's value may be; NULL: a file, or a text of any kind. */
static const char *values_of(const cli_option_info *o)
{
    static const struct {
        const char *value, *words;
    } known[] = {{"TARGET", "host cuda"}, {"C|K", "C K"}};
    if (o->value && strcmp(o->value, "FORMAT") == 0)
        return cli_formats_names();
    for (size_t k = 0; o->value && k < sizeof known / sizeof *known; k++)
        if (strcmp(o->value, known[k].value) == 0)
            return known[k].words;
    return NULL;
}

/* A usage that begins with words between bars: "path|stats ...". */
static bool has_actions(const cli_command *command)
{
    return memchr(command->usage, '|', strcspn(command->usage, " ")) != NULL;
}

/* "path stats list ...": the first of them each. */
static void put_actions(const cli_command *command)
{
    for (const char *at = command->usage; *at; at += strcspn(at, "|"), at += *at == '|')
        printf(" %.*s", (int)strcspn(at, " |"), at);
}

/* One that has a blank in its name is found by the first word. */
static bool is_word(const cli_command *command)
{
    return !strchr(command->name, ' ');
}

static void print_bash(void)
{
    cli_option_info o;
    fputs("# kiln's commands, options and files; written by kiln help completion bash.\n_kiln()\n{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n    "
          "COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W \"help --help --version",
          stdout);
    for (int c = 0; c < cli_command_count; c++)
        if (is_word(&cli_commands[c]))
            printf(" %s", cli_commands[c].name);
    fputs("\" -- \"$current\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", stdout);
    for (int c = 0; c < cli_command_count; c++) {
        if (!is_word(&cli_commands[c]))
            continue;
        printf("    %s)\n        case $before in\n", cli_commands[c].name);
        for (int n = 0; cli_option_at(&o, &cli_commands[c], n); n++)
            if (values_of(&o))
                printf("        %s) words=\"%s\" ;;\n", o.name, values_of(&o));
        fputs("        *) [[ $current == -* ]] && words=\"", stdout);
        for (int n = 0; cli_option_at(&o, &cli_commands[c], n); n++)
            printf("%s%s", n ? " " : "", o.name);
        fputs("\"", stdout);
        if (has_actions(&cli_commands[c])) {
            fputs(" || { ((COMP_CWORD == 2)) && words=\"", stdout);
            put_actions(&cli_commands[c]);
            fputs("\"; }", stdout);
        }
        fputs(" ;;\n        esac ;;\n", stdout);
    }
    fputs("    help) words=\"language files man completion", stdout);
    for (int c = 0; c < cli_command_count; c++)
        if (is_word(&cli_commands[c]))
            printf(" %s", cli_commands[c].name);
    fputs("\" ;;\n    esac\n    [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
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
    fputs("    'help:say more about a command, the language or files'\n)\nif ((CURRENT == 2)); then\n"
          "    _describe command commands\n    return\nfi\ncase $words[2] in\n",
          stdout);
    for (int c = 0; c < cli_command_count; c++) {
        if (!is_word(&cli_commands[c]))
            continue;
        printf("%s) _arguments", cli_commands[c].name);
        for (int n = 0; cli_option_at(&o, &cli_commands[c], n); n++) {
            printf(" \\\n    '*%s[", o.name);
            put_quoted(o.help, "[]");
            putchar(']');
            if (o.value) {
                putchar(':');
                put_quoted(o.value, ":");
                if (values_of(&o))
                    printf(":(%s)", values_of(&o));
                else
                    fputs(":_files", stdout);
            }
            putchar('\'');
        }
        if (has_actions(&cli_commands[c])) {
            fputs(" \\\n    '2:action:(", stdout);
            put_actions(&cli_commands[c]);
            fputs(")'", stdout);
        }
        fputs(" \\\n    '*:file:_files' ;;\n", stdout);
    }
    fputs("esac\n", stdout);
}

static void print_fish(void)
{
    cli_option_info o;
    fputs("# kiln's commands, options and files; written by kiln help completion fish.\n", stdout);
    for (int c = 0; c < cli_command_count; c++) {
        const cli_command *command = &cli_commands[c];
        if (!is_word(command))
            continue;
        printf("complete -c kiln -f -n __fish_use_subcommand -a %s -d '", command->name);
        put_quoted(command->summary, "");
        fputs("'\n", stdout);
        for (int n = 0; cli_option_at(&o, command, n); n++) {
            printf("complete -c kiln -n '__fish_seen_subcommand_from %s' %s %s", command->name,
                   o.name[1] == '-' ? "-l" : "-s", o.name + (o.name[1] == '-' ? 2 : 1));
            if (values_of(&o))
                printf(" -x -a '%s'", values_of(&o));
            else if (o.value)
                fputs(" -r", stdout);
            fputs(" -d '", stdout);
            put_quoted(o.help, "");
            fputs("'\n", stdout);
        }
        if (has_actions(command)) {
            printf("complete -c kiln -n '__fish_seen_subcommand_from %s' -a '", command->name);
            put_actions(command);
            fputs("'\n", stdout);
        }
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
