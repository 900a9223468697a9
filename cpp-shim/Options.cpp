//===- Options.cpp - The -nvptx-ra-... options ----------------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See Options.h. The option's own parser rejects a wrong value. llc, opt and
/// clang then report it once, like a wrong value of their own options.
///
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "Text.h"

#include "llvm/Support/CommandLine.h"
#include <deque>
#include <string>
#include <utility>
#include <vector>

using namespace llvm;

namespace nvptx_ra {

namespace {

constexpr StringLiteral Prefix = "nvptx-ra-";

/// Returns the core's text for one option. A name alone is a switch that is on.
std::string assignment(StringRef Name, StringRef Value) {
  std::string Text = Name.str();
  if (Value.empty())
    return Text;
  Text += '=';
  for (char C : Value) {
    if (C == ';' || C == '\\')
      Text += '\\';
    Text += C;
  }
  return Text;
}

/// Accepts any text that the core accepts.
class OptionParser : public cl::parser<std::string> {
public:
  using parser::parser;

  bool parse(cl::Option &O, StringRef ArgName, StringRef Arg,
             std::string &Value) {
    StringRef Name = O.ArgStr.drop_front(Prefix.size());
    std::string Problem = checkOptions(assignment(Name, Arg), "command line");
    if (!Problem.empty())
      return O.error(Problem, ArgName);
    Value = Arg.str();
    return false;
  }
};

using Option = cl::opt<std::string, false, OptionParser>;

/// Created once and never freed: LLVM keeps pointers to the options until the
/// process ends.
struct OptionSet {
  cl::OptionCategory Category{
      "nvptx-ra", "What nvptx-ra does to the registers of NVPTX machine code"};
  /// The names on the command line, referred to by the options.
  std::deque<std::string> FullNames;
  /// Each option with its name in the core.
  std::vector<std::pair<StringRef, Option *>> Options;
};

OptionSet *Registered = nullptr;

} // namespace

bool registerOptions() {
  const uint64_t Count = nvptx_ra_option_count();
  auto FullName = [](const nvptx_ra_option_info &Info) {
    return (Prefix + toRef(Info.name)).str();
  };
  // Checked before anything is created, because a category registers itself
  // permanently.
  for (uint64_t I = 0; I != Count; ++I)
    if (cl::getRegisteredOptions().contains(FullName(nvptx_ra_option_at(I))))
      return false;
  Registered = new OptionSet;
  for (uint64_t I = 0; I != Count; ++I) {
    nvptx_ra_option_info Info = nvptx_ra_option_at(I);
    StringRef Name = Registered->FullNames.emplace_back(FullName(Info));
    Registered->Options.emplace_back(
        toRef(Info.name),
        new Option(Name, cl::desc(toRef(Info.help)),
                   cl::value_desc(toRef(Info.meta)),
                   cl::cat(Registered->Category),
                   Info.hidden ? cl::Hidden : cl::NotHidden,
                   Info.is_switch ? cl::ValueOptional : cl::ValueRequired));
  }
  return true;
}

cl::OptionCategory *optionCategory() {
  return Registered ? &Registered->Category : nullptr;
}

std::string commandLine() {
  std::string Text;
  if (!Registered)
    return Text;
  for (const auto &[Name, Option] : Registered->Options) {
    if (Option->getNumOccurrences() == 0)
      continue;
    if (!Text.empty())
      Text += ';';
    Text += assignment(Name, Option->getValue());
  }
  return Text;
}

std::string checkOptions(StringRef Options, StringRef Origin) {
  const nvptx_ra_response *Problem =
      nvptx_ra_check_options(toStr(Options), toStr(Origin));
  if (!Problem)
    return {};
  std::string Message = toRef(Problem->message).str();
  nvptx_ra_response_free(Problem);
  return Message;
}

} // namespace nvptx_ra
